import { accessible, canary, embedder, expect, host, signIn, test } from './world'

test('the portal opens by its link, and the code leaves the address bar', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.settled(tenant, await backend.event(tenant, 'order.paid', {}), 'delivered')
  const link = await backend.portal(tenant)
  await page.goto(link.url)
  await expect(page.getByText('Acme webhooks')).toBeVisible()
  await expect(page).toHaveURL(`${backend.address}/portal/t/${tenant}`)
  expect(await page.locator('.brand img').evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(24)
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--accent'))).toBe('#0b7285')
  for (const [name, title] of [['Endpoints'], ['Events'], ['Deliveries'], ['Failed', 'Failed deliveries'], ['Replays'], ['Event catalog'], ['Overview']] as const) {
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page.getByRole('heading', { name: title ?? name, level: 1 })).toBeVisible()
    await accessible(page)
  }
  await page.reload()
  await expect(page.getByRole('link', { name: 'crm' }).first()).toBeVisible()
  await expect(page.getByText('API keys')).toHaveCount(0)
})

test('the portal of a tenant reaches nothing of another', async ({ page, backend, receiver, tenant }) => {
  const other = `${tenant}-other`
  const endpoint = await backend.endpoint(other, { url: receiver.url('/hook'), uid: 'secret-endpoint' })
  const event = await backend.event(other, 'secret.event', {})
  const delivery = await backend.settled(other, event, 'delivered')
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  for (const path of ['', '/endpoints', `/endpoints/${endpoint}`, '/events', `/events/${event}`, `/events/${event}?delivery=${delivery.id}`, '/deliveries', '/dead-letters', '/replays']) {
    for (const owner of [other, tenant]) {
      await page.goto(`${backend.address}/portal/t/${owner}${path}`)
      await expect(page.getByRole('main')).toBeVisible()
      if (owner === other) await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
      await expect(page.getByText('secret-endpoint')).toHaveCount(0)
      await expect(page.getByText('secret.event')).toHaveCount(0)
    }
  }
  for (const path of ['/tenants', '/keys', `/t/${tenant}/changes`]) {
    await page.goto(`${backend.address}/portal${path}`)
    await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
  }
  // The API refuses the same, whatever the page asks for.
  const key = await page.evaluate(() => (JSON.parse(sessionStorage.getItem('surehook-portal')!) as { key: string }).key)
  for (const path of [`/v1/tenants/${other}/endpoints`, `/v1/tenants/${other}/events/${event}`, `/v1/tenants/${other}/deliveries/${delivery.id}`]) {
    expect((await backend.call('GET', path, undefined, key)).httpStatus, path).toBe(404)
  }
  for (const path of ['/v1/tenants', '/v1/keys', '/v1/health', `/v1/tenants/${tenant}/audit`]) {
    expect((await backend.call('GET', path, undefined, key)).httpStatus, path).toBe(403)
  }
})

test('only the embedders may show the portal in a frame', async ({ backend }) => {
  const policy = async (path: string) => (await fetch(backend.address + path)).headers.get('content-security-policy')
  expect(await policy('/portal')).toContain(`frame-ancestors ${embedder()}`)
  expect(await policy('/console')).toContain("frame-ancestors 'none'")
})

test('an embedder shows the portal in a frame, and works there; another origin and the console get nothing', async ({ browser, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const event = await backend.event(tenant, 'order.paid', {})
  await backend.settled(tenant, event, 'delivered')
  const link = (await backend.portal(tenant)).url
  const allowed = await host(Number(new URL(embedder()).port), `<iframe src="${link.replaceAll('&', '&amp;')}" width="900" height="700"></iframe>`)
  const other = await host(0, `<iframe src="${link.replaceAll('&', '&amp;')}"></iframe>`)
  const operators = await host(0, `<iframe src="${backend.address}/console"></iframe>`)
  const page = await browser.newPage()
  try {
    await page.goto(allowed.url)
    const frame = page.frameLocator('iframe')
    await expect(frame.getByRole('heading', { name: 'Overview' })).toBeVisible()
    await frame.getByRole('link', { name: 'Events', exact: true }).click()
    await frame.getByRole('link', { name: 'order.paid' }).click()
    await expect(frame.getByText('Attempt 1: 200 Delivered')).toBeVisible()
    for (const refused of [other, operators]) {
      const said = page.waitForEvent('console', (m) => /frame-ancestors/.test(m.text()))
      await page.goto(refused.url)
      await said
      await expect.poll(() => page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
      await expect(page.frameLocator('iframe').getByRole('heading', { name: 'Overview' })).toHaveCount(0)
    }
  } finally {
    await page.close()
    for (const h of [allowed, other, operators]) h.stop()
  }
})

test('the portal shows event types, and changes none', async ({ page, backend, tenant }) => {
  await backend.call('PUT', `/v1/event-types/${tenant}.paid`, { description: 'An order was paid.', group: 'Billing', schema: { type: 'object', required: ['order'] }, example: { order: 1042 } })
  await page.goto((await backend.portal(tenant)).url)
  await page.getByRole('link', { name: 'Event catalog' }).click()
  await expect(page.getByRole('heading', { name: 'Event catalog', level: 1 })).toBeVisible()
  await accessible(page)
  await page.getByRole('link', { name: `${tenant}.paid` }).click()
  await expect(page.getByLabel('Example', { exact: true })).toContainText('"order": 1042')
  await expect(page.getByLabel('Schema of the payload', { exact: true })).toContainText('"required"')
  await accessible(page)
  await expect(page.getByRole('button', { name: /Save|Delete/ })).toHaveCount(0)
  await page.goto(`${backend.address}/portal/new-event-type`)
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
  await backend.call('DELETE', `/v1/event-types/${tenant}.paid`)
})

test('texts of receivers and callers stay texts', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 500, body: canary })
  const endpoint = await backend.endpoint(tenant, {
    url: receiver.url('/hook'),
    description: canary,
    metadata: { canary },
    headers: { 'X-Canary': canary.replaceAll('"', '') },
    retry: { schedule: ['1s'], jitter: 'none' },
  })
  const event = await backend.event(tenant, 'canary.event', { [canary]: canary })
  const delivery = await backend.settled(tenant, event, 'dead')
  await backend.call('POST', `/v1/tenants/${tenant}/deliveries/${delivery.id}/discard`, { note: canary })
  await backend.call('POST', '/v1/keys', { name: canary, tenant, scopes: ['read'] })
  const keyed = await backend.call<{ id: string }>('POST', `/v1/tenants/${tenant}/events`, { event_type: 'canary.keyed', payload: canary, idempotency_key: canary.replaceAll(' ', '_') })
  await backend.call('PUT', `/v1/event-types/${tenant}`, { description: canary, group: canary.slice(0, 64), schema: { title: canary }, example: { [canary]: canary } })
  await signIn(page, backend)
  for (const path of [
    '/event-types',
    `/event-types/${tenant}`,
    `/t/${tenant}`,
    `/t/${tenant}/endpoints`,
    `/t/${tenant}/endpoints/${endpoint}`,
    `/t/${tenant}/endpoints/${endpoint}?tab=settings`,
    `/t/${tenant}/endpoints/${endpoint}?tab=history`,
    `/t/${tenant}/events`,
    `/t/${tenant}/events/${event}`,
    `/t/${tenant}/events/${keyed.id}`,
    `/t/${tenant}/deliveries?event_type=${encodeURIComponent(canary)}`,
    `/t/${tenant}/dead-letters`,
    `/t/${tenant}/changes`,
    `/t/${encodeURIComponent(canary)}`,
    '/keys',
  ]) {
    await page.goto(`${backend.address}/console${path}`)
    await expect(page.getByRole('main')).toBeVisible()
    await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
    expect(await page.evaluate(() => 'broken' in window), path).toBe(false)
  }
  await page.goto(`${backend.address}/console/t/${tenant}/events/${event}`)
  await expect(page.getByLabel('Answer', { exact: true }).first()).toContainText('<script>window.broken=1</script>')
})

// The server permits frames by the decoded path, so no other spelling may show the console.
test('only its exact path shows the console', async ({ page, backend }) => {
  await page.goto(`${backend.address}/%70ortal`)
  await expect(page.getByRole('heading')).toBeVisible()
  await expect(page.getByLabel('API key')).toHaveCount(0)
  await page.goto(`${backend.address}/console`)
  await expect(page.getByLabel('API key')).toBeVisible()
})
