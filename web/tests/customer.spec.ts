import { accessible, apart, embedder, expect, fits, host, looks, openPortal, signIn, test } from './world'

// What a customer sees and does in the portal.

for (const { width, colorScheme } of looks) {
  test.describe(`at ${width} pixels, ${colorScheme}`, () => {
    test.use({ viewport: { width, height: 900 }, colorScheme })

    test('a customer opens a link, creates an endpoint, tests it, finds why it fails, fixes it and replays', async ({ page, backend, receiver, tenant }) => {
      const tidy = async () => {
        await accessible(page)
        await fits(page)
        await apart(page)
      }
      receiver.answers.set('/hook', { status: 500, body: 'WEBHOOK_SECRET is not set' })
      await page.goto((await backend.portal(tenant)).url)
      await expect(page.getByRole('heading', { name: 'No endpoints yet' })).toBeVisible()
      await tidy()

      await page.getByRole('link', { name: 'New endpoint' }).click()
      await page.getByLabel('URL').fill(receiver.url('/hook'))
      await tidy()
      await page.getByRole('button', { name: 'Create endpoint' }).click()
      await expect(page.getByRole('dialog').getByText(/^whsec_/)).toBeVisible()
      await expect(page.getByRole('tabpanel', { name: 'Go' })).toBeVisible()
      await tidy()
      await page.getByRole('button', { name: 'Done' }).click()
      await expect(page.getByRole('heading', { name: 'No attempts in this window' })).toBeVisible()
      await tidy()

      // No automatic retry comes before a click.
      const endpoint = new URL(page.url()).pathname.split('/').at(-1)!
      await backend.call('PATCH', `/v1/tenants/${tenant}/endpoints/${endpoint}`, { retry: { schedule: ['1h'], jitter: 'none' } })
      await page.getByRole('button', { name: 'Send test' }).click()
      await tidy()
      await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'Attempt 1: 500 Unavailable' })).toBeInViewport()
      await expect(page.getByLabel('Answer', { exact: true })).toHaveText('WEBHOOK_SECRET is not set')
      await expect(page.getByText('Retrying', { exact: true })).toBeVisible()
      await expect(page.getByText('the next automatic retry')).toBeVisible()
      await tidy()

      receiver.answers.set('/hook', { status: 401, body: 'wrong signature' })
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await expect(page.getByRole('alertdialog').getByText('in place of the attempts that are still planned')).toBeVisible()
      await tidy()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Replay', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'Attempt 1: 401 Refused' })).toBeInViewport()
      await expect(page.getByText('Fix the cause, then replay this delivery.')).toBeVisible()
      await tidy()

      receiver.answers.set('/hook', { status: 200 })
      await page.getByRole('button', { name: 'Replay', exact: true }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Replay', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'Attempt 1: 200 Delivered' })).toBeInViewport()
      await expect(page.getByText('Replayed', { exact: true })).toHaveCount(2) // and folded
      await expect(page.getByText('Attempt 1: 401 Refused')).toHaveCount(0)
      await tidy()

      await page.getByRole('link', { name: 'Overview' }).click()
      await expect(page.getByRole('slider', { name: 'Deliveries over time' })).toHaveAttribute('aria-valuetext', /Delivered 1, Failed attempts 2, Failed 0/)
      await tidy()
    })
  })
}

const german = (url: string) => url.replace('/portal#', '/portal?lang=de#')

test('the portal speaks German by its link, keeps the language, and forgets it with the next link', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  await page.goto(german((await backend.portal(tenant)).url))
  await expect(page.getByRole('heading', { name: 'Überblick', level: 1 })).toBeVisible()
  expect(await page.getAttribute('html', 'lang')).toBe('de')
  for (const name of ['Endpunkte', 'Ereignisse', 'Zustellungen', 'Wiederholungen']) {
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible()
    await accessible(page)
  }
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Wiederholungen', level: 1 })).toBeVisible()
  await page.goto('about:blank')
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  expect(await page.getAttribute('html', 'lang')).toBe('en-GB')
})

test.describe('in a German browser', () => {
  test.use({ locale: 'de-AT', timezoneId: 'Europe/Vienna' })

  test('the portal is German with dates that name their zone, and the console is English', async ({ page, backend, receiver, tenant }) => {
    await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
    const event = await backend.event(tenant, 'order.paid', {})
    await backend.settled(tenant, event, 'delivered')
    await openPortal(page, backend, tenant, 'Hauptmenü')
    await page.goto(`${backend.address}/portal/t/${tenant}/events/${event}`)
    await expect(page.getByRole('heading', { name: 'Versuch 1: 200 Zugestellt' })).toBeVisible()
    await expect(page.locator('.timeline')).toContainText(/(MEZ|MESZ)/)
    await expect(page.getByText('Body: Typ, Zeitpunkt und Daten (Standard Webhooks)')).toBeVisible()
    await expect(page.locator('time').first()).toHaveAttribute('title', /(MEZ|MESZ)/)
    await page.goto(`${backend.address}/portal/t/${tenant}/events/${event.slice(0, -2)}zz`)
    await expect(page.getByText('Das gibt es nicht, oder nicht mehr.')).toBeVisible()
    await signIn(page, backend, `/t/${tenant}?lang=de`)
    await expect(page.getByRole('heading', { name: 'Überblick', level: 1 })).toBeVisible()
  })

  test('what the API says about a field and an attempt is German', async ({ page, backend, receiver, tenant }) => {
    receiver.answers.set('/hook', { status: 400 })
    await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
    const event = await backend.event(tenant, 'order.paid', {})
    await backend.settled(tenant, event, 'dead')
    await openPortal(page, backend, tenant, 'Hauptmenü')
    await page.goto(`${backend.address}/portal/t/${tenant}/events/${event}`)
    await expect(page.getByText('Der Endpunkt antwortete 400 Bad Request.')).toBeVisible()
    await page.goto(`${backend.address}/portal/t/${tenant}/new-endpoint`)
    await page.getByLabel('URL', { exact: true }).fill('ftp://example.com/')
    await page.getByRole('button', { name: 'Endpunkt anlegen' }).click()
    await expect(page.locator('.wrong')).toHaveText('muss mit https:// beginnen')
    await page.goto(`${backend.address}/portal/t/${tenant}/endpoints/crm?tab=settings`)
    await page.getByLabel('Zeitlimit').fill('1h')
    await page.getByRole('button', { name: 'Änderungen speichern' }).click()
    await expect(page.locator('.wrong')).toHaveText('muss zwischen 1s und 30s liegen')
    await accessible(page)
  })

  test('without the file of its language the page is English', async ({ page, backend, tenant }) => {
    await page.route(/\/de-[^/]*\.js$/, (route) => route.abort())
    await openPortal(page, backend, tenant, 'Main')
  })
})

// Words of operators, in no page of the portal.
const jargon = /dead letter|parked|circuit|cooldown|needs a person|speed class|queue\b|\bdead\b/i

for (const width of [1440, 390]) {
  test.describe(`at ${width} pixels`, () => {
    test.use({ viewport: { width, height: 900 } })

    test('no page has a word of operators', async ({ page, backend, receiver, tenant }) => {
      receiver.answers.set('/refuses', { status: 400 })
      receiver.answers.set('/fails', { status: 503 })
      const refuses = await backend.endpoint(tenant, { url: receiver.url('/refuses'), uid: 'refuses' })
      const event = await backend.event(tenant, 'order.paid', {})
      await backend.settled(tenant, event, 'dead')
      const fails = await backend.endpoint(tenant, { url: receiver.url('/fails'), uid: 'fails' })
      await backend.call('POST', `/v1/tenants/${tenant}/endpoints/${fails}/circuit/open`)
      const waits = await backend.event(tenant, 'order.shipped', {})
      await openPortal(page, backend, tenant)
      for (const path of ['', '/endpoints', `/endpoints/${fails}`, `/endpoints/${refuses}`, `/endpoints/${refuses}?tab=settings`, `/endpoints/${refuses}?tab=history`, '/events', `/events/${event}`, `/events/${waits}`, '/deliveries', '/dead-letters', '/replays', '/new-endpoint']) {
        await page.goto(`${backend.address}/portal/t/${tenant}${path}`)
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
        await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
        expect((await page.locator('body').innerText()).match(jargon)?.[0], path).toBeUndefined()
        await fits(page)
      }
      await page.goto(`${backend.address}/portal/t/${tenant}/endpoints/${fails}`)
      await page.getByRole('button', { name: 'Try again now' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Try again now' }).click()
      await expect(page.getByText('The waiting deliveries go out')).toBeVisible()
    })

    test('a new endpoint needs a URL and events of the catalogue, and comes with samples', async ({ page, backend, receiver, tenant }) => {
      const types = [`${tenant}.paid`, `${tenant}.shipped`]
      for (const type of types) await backend.call('PUT', `/v1/event-types/${type}`, { description: `About ${type}.`, group: 'Orders', example: { order: 1042 } })
      await openPortal(page, backend, tenant)
      await page.goto(`${backend.address}/portal/t/${tenant}/new-endpoint`)
      await expect(page.getByRole('checkbox', { name: 'All events, also new ones' })).toBeChecked()
      await expect(page.getByRole('checkbox', { name: types[0]! })).toBeChecked()
      for (const hidden of ['Alias', 'Timeout', 'Signature format']) await expect(page.getByLabel(hidden)).not.toBeVisible()
      await accessible(page)
      await fits(page)
      await page.getByLabel('URL').fill(receiver.url('/hook'))
      await page.getByRole('checkbox', { name: 'All events, also new ones' }).click()
      await page.getByRole('button', { name: 'Create endpoint' }).click()
      await expect(page.locator('fieldset .wrong')).toBeVisible() // no event is chosen
      await page.getByRole('checkbox', { name: types[1]! }).click()
      await page.getByRole('button', { name: 'Advanced' }).click()
      await page.getByLabel('Alias').fill('my-shop')
      await page.getByRole('button', { name: 'Create endpoint' }).click()
      const dialog = page.getByRole('dialog')
      await expect(dialog.getByText(/^whsec_/)).toBeVisible()
      await dialog.getByRole('tab', { name: 'Python' }).click()
      await expect(dialog.getByRole('tabpanel', { name: 'Python' })).toContainText('Webhook(os.environ["MY_SHOP_WEBHOOK_SECRET"])')
      await accessible(page)
      await fits(page)
      await page.getByRole('button', { name: 'Done' }).click()
      await page.getByRole('tab', { name: 'Verification' }).click()
      for (const language of ['Go', 'TypeScript', 'Python', 'Java', 'Ruby', 'PHP']) {
        await page.getByRole('tab', { name: language, exact: true }).click()
        await expect(page.getByRole('tabpanel', { name: language, exact: true })).toContainText('MY_SHOP_WEBHOOK_SECRET')
        await expect(page.getByRole('button', { name: `Copy ${language}` })).toBeVisible()
      }
      await accessible(page)
      const made = await backend.call<{ event_types: string[]; circuit: { failures: number } }>('GET', `/v1/tenants/${tenant}/endpoints/my-shop`)
      expect(made.event_types).toEqual([types[1]])
      await page.getByRole('tab', { name: 'Settings' }).click()
      await expect(page.getByRole('checkbox', { name: types[1]! })).toBeChecked()
      await page.getByRole('checkbox', { name: types[0]! }).click()
      await page.getByRole('button', { name: 'Save changes' }).click()
      await expect(page.getByText('The settings are saved')).toBeVisible()
      const saved = await backend.call<typeof made>('GET', `/v1/tenants/${tenant}/endpoints/my-shop`)
      expect(saved.event_types.sort()).toEqual(types)
      expect(saved.circuit).toEqual(made.circuit)
      for (const type of types) await backend.call('DELETE', `/v1/event-types/${type}`)
    })

    test('the catalogue sends a test event of a type to an endpoint', async ({ page, backend, receiver, tenant }) => {
      const type = `${tenant}.paid`
      await backend.call('PUT', `/v1/event-types/${type}`, { description: 'An order was paid.', schema: { type: 'object' }, example: { order: 1042 } })
      await openPortal(page, backend, tenant)
      await page.goto(`${backend.address}/portal/event-types/${type}`)
      await page.getByRole('button', { name: 'Send a test event' }).click()
      await expect(page.getByRole('dialog').getByText('No endpoints yet')).toBeVisible()
      await page.getByRole('dialog').getByRole('link', { name: 'New endpoint' }).click()
      await expect(page.getByRole('heading', { name: 'New endpoint' })).toBeVisible()
      await backend.endpoint(tenant, { url: receiver.url('/first'), uid: 'first', event_types: ['nothing'] })
      await backend.endpoint(tenant, { url: receiver.url('/second'), uid: 'second', event_types: ['nothing'] })
      await page.goto(`${backend.address}/portal/event-types/${type}`)
      await expect(page.getByText('An order was paid.')).toBeVisible()
      await page.getByRole('button', { name: 'Send a test event' }).click()
      await expect(page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true })).toBeDisabled()
      await page.getByRole('dialog').getByLabel('Endpoint').fill('first')
      await page.getByRole('dialog').getByLabel('Endpoint').press('Enter')
      await accessible(page)
      await fits(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
      await expect(page.getByRole('heading', { name: 'Attempt 1: 200 Delivered' })).toBeVisible()
      expect(receiver.requests.map((r) => r.path)).toEqual(['/first'])
      expect(JSON.parse(receiver.requests[0]!.body)).toMatchObject({ type: 'webhook.test', data: { order: 1042 } })
      expect(await page.locator('body').innerText()).not.toMatch(/surehook/i)
      await backend.call('DELETE', `/v1/event-types/${type}`)
    })

    test('embedded without a frame, the portal tells its height and its links', async ({ browser, backend, receiver, tenant }) => {
      await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
      const embedded = async () => (await backend.portal(tenant)).url.replace('/portal#', '/portal?embed=1&lang=de&theme=dark&ground=102030&font=Georgia,serif#')
      const outer = await host(Number(new URL(embedder()).port), `<iframe src="${(await embedded()).replaceAll('&', '&amp;')}" width="100%" height="300"></iframe>`)
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      await page.addInitScript(() => {
        const all: unknown[] = ((window as unknown as { messages: unknown[] }).messages = [])
        addEventListener('message', (e) => all.push(e.data))
      })
      type Message = { type: string; tenant?: string; height?: number }
      const messages = async (type: string) => (await page.evaluate(() => (window as unknown as { messages: Message[] }).messages)).filter((m) => m.type === `surehook.portal.${type}`)
      try {
        await page.goto(outer.url)
        const frame = page.frameLocator('iframe')
        await expect(frame.getByRole('heading', { name: 'Überblick' })).toBeVisible()
        const look = () => page.frames()[1]!.evaluate(() => {
          const { backgroundColor, colorScheme, fontFamily } = getComputedStyle(document.documentElement)
          return { backgroundColor, colorScheme, fontFamily }
        })
        expect(await look()).toEqual({ backgroundColor: 'rgb(16, 32, 48)', colorScheme: 'dark', fontFamily: 'Georgia, serif' })
        await expect(frame.getByText('Acme webhooks')).toHaveCount(0)
        await expect(frame.getByText(tenant)).toHaveCount(0)
        await expect(frame.getByRole('button', { name: 'Abmelden' })).toHaveCount(0)
        const height = () => page.frames()[1]!.evaluate(() => Math.ceil(document.getElementById('root')!.getBoundingClientRect().height))
        await expect.poll(async () => (await messages('height')).at(-1)?.height === (await height())).toBe(true)
        expect(await messages('opened')).toMatchObject([{ tenant }])
        await frame.getByRole('link', { name: 'Endpunkte', exact: true }).click()
        await expect(frame.getByRole('heading', { name: 'Endpunkte', level: 1 })).toBeVisible()
        await expect.poll(async () => (await messages('height')).at(-1)?.height === (await height())).toBe(true)
        await page.evaluate((url) => (document.querySelector('iframe')!.src = url), await embedded())
        await expect.poll(async () => await messages('opened')).toMatchObject([{ tenant }, { tenant }])
      } finally {
        await page.close()
        outer.stop()
      }
    })
  })
}
