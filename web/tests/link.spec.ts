import type { Page } from '@playwright/test'
import { readFile } from 'node:fs/promises'
import { accessible, embedder, expect, host, signIn, test } from './world'

const fragment = (url: string) => new URL(url).hash

/** The requests of the page to the API, from now on. */
function requests(page: Page) {
  const all: string[] = []
  page.on('request', (r) => {
    const { pathname } = new URL(r.url())
    if (pathname.startsWith('/v1/')) all.push(`${r.method()} ${pathname}`)
  })
  return all
}

test('a link opens once, and the code is in no request but one', async ({ page, backend, tenant, browser }) => {
  const link = await backend.portal(tenant)
  const urls: string[] = []
  page.on('request', (r) => urls.push(r.url() + JSON.stringify(r.headers())))
  const got = await fetch(link.url) // a preview of a chat program
  expect(got.headers.get('cross-origin-opener-policy')).toBe('same-origin')
  await page.goto(link.url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  await expect(page.getByRole('navigation', { name: 'Main' }).getByText(tenant)).toBeVisible()
  const code = new URLSearchParams(fragment(link.url).slice(1)).get('code')!
  expect(urls.filter((u) => u.includes(code) || u.includes('shk_') && !u.includes('authorization'))).toEqual([])
  await page.goBack()
  expect(page.url()).not.toContain('code')
  await page.goto('about:blank')

  const another = await browser.newContext()
  const other = await another.newPage()
  await other.goto(link.url)
  await expect(other.getByRole('heading', { name: 'This link was used already' })).toBeVisible()
  expect(other.url()).toBe(`${backend.address}/portal`)
  await accessible(other)
  await another.close()

  // The same tab keeps its session, as a frame that loads again with the same address.
  await page.goto(link.url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
})

test('of two browsers with one link one opens the portal', async ({ browser, backend, tenant }) => {
  const { url } = await backend.portal(tenant)
  const pages = await Promise.all([browser.newPage(), browser.newPage()])
  await Promise.all(pages.map((p) => p.goto(url)))
  const titles = await Promise.all(pages.map((p) => p.getByRole('heading', { level: 1, name: /Overview|used already/ }).textContent()))
  expect(titles.sort()).toEqual(['Overview', 'This link was used already'])
  for (const p of pages) await p.close()
})

test('a link that is ended, unknown or cut off says so', async ({ page, backend, tenant }) => {
  const link = await backend.portal(tenant)
  await backend.call('DELETE', `/v1/tenants/${tenant}/portal-links/${link.key_id}`)
  for (const url of [link.url, link.url.replace(`tenant=${tenant}`, 'tenant=other'), link.url.slice(0, -20), `${backend.address}/portal#code=&tenant=`, `${backend.address}/portal#code=%00&tenant=..`, link.url.replace(`tenant=${tenant}`, 'tenant=acme.%20Call%20us!')]) {
    await page.goto('about:blank')
    await page.goto(url)
    await expect(page.getByRole('heading', { name: /no longer valid|could not be opened/ }), url).toBeVisible()
    expect(page.url()).toBe(`${backend.address}/portal`)
    await expect(page.getByText('Call us')).toHaveCount(0)
  }
  await page.goto('about:blank')
  await page.goto(`${backend.address}/portal`)
  await expect(page.getByRole('heading', { name: 'The portal needs a link' })).toBeVisible()
  await accessible(page)
})

test('without an answer the page tries the same link again, and says when an answer was lost', async ({ page, backend, tenant }) => {
  let lose = false
  let calls = 0
  await page.route('**/portal-session', async (route) => {
    if (++calls > 2) return route.continue()
    if (lose) await route.fetch() // the API answers, and the answer is lost
    await route.abort()
  })
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByText('The server cannot be reached')).toBeVisible()
  await accessible(page)
  lose = true
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => calls).toBe(2)
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByRole('heading', { name: 'This link was used already' })).toBeVisible()
})

test('a link asks before it replaces the session of another tenant', async ({ page, backend, tenant }) => {
  const other = tenant.padEnd(64, 'x')
  const first = await backend.portal(tenant)
  await page.goto(first.url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  const kept = await page.evaluate(() => sessionStorage.getItem('surehook-portal'))
  const second = await backend.portal(other)
  await page.goto(second.url)
  await expect(page.getByRole('heading', { name: `Open the portal of ${other}?` })).toBeVisible()
  await expect(page.getByText(`You are signed in to the portal of ${tenant}.`)).toBeVisible()
  await accessible(page)
  for (const width of [390, 1320]) {
    await page.setViewportSize({ width, height: 860 })
    const card = (await page.locator('.card').boundingBox())!
    for (const inner of await page.locator('.card *').all()) {
      const box = (await inner.boundingBox())!
      expect(box.x + box.width, `${await inner.textContent()} in ${width}`).toBeLessThanOrEqual(card.x + card.width)
    }
  }
  await page.getByRole('button', { name: `Stay with ${tenant}` }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  expect(await page.evaluate(() => sessionStorage.getItem('surehook-portal'))).toBe(kept)

  await page.goto('about:blank')
  await page.goto(second.url) // not used up by the question
  await page.getByRole('button', { name: `Open ${other}` }).click()
  await expect(page.getByRole('navigation', { name: 'Main' }).getByText(other)).toBeVisible()
  const { key } = JSON.parse(kept!) as { key: string }
  await expect.poll(async () => (await backend.call('GET', `/v1/tenants/${tenant}/endpoints`, undefined, key)).httpStatus, 'the replaced key ends').toBe(401)

  // In the same document, as an embedding page renews the link.
  const third = await backend.portal(other)
  await page.evaluate((hash) => (location.hash = hash), fragment(third.url))
  await expect.poll(() => page.evaluate(() => sessionStorage.getItem('surehook-portal'))).toContain(third.key_id)
  expect(page.url()).not.toContain('code')
})

test('of two links that come at once the later one opens, and the key of the other ends', async ({ page, backend, tenant }) => {
  const [first, second] = [await backend.portal(tenant), await backend.portal(`${tenant}-second`)]
  let answer!: () => void
  const held = new Promise<void>((release) => (answer = release))
  let late = ''
  await page.route(`**/v1/tenants/${tenant}/portal-session`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    late = ((await response.json()) as { key: string }).key
    await held
    await route.fulfill({ response })
  })
  await page.goto(first.url)
  await expect.poll(() => late).not.toBe('')
  await page.evaluate((hash) => (location.hash = hash), fragment(second.url))
  const shown = page.getByRole('navigation', { name: 'Main' }).getByText(`${tenant}-second`)
  await expect(shown).toBeVisible()
  answer()
  await expect.poll(async () => (await backend.call('GET', `/v1/tenants/${tenant}/endpoints`, undefined, late)).httpStatus, 'the key that nobody asked for ends').toBe(401)
  await expect(shown).toBeVisible()
  expect(await page.evaluate(() => sessionStorage.getItem('surehook-portal'))).toContain(second.key_id)
})

test('a refused code does not end the session before', async ({ page, backend, tenant }) => {
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  await page.route('**/portal-session', (route) => route.fulfill({ status: 403, json: { message: 'Forbidden' } })) // a firewall
  await page.evaluate((hash) => (location.hash = hash), fragment((await backend.portal(tenant)).url))
  await page.getByRole('button', { name: `Stay with ${tenant}` }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
})

test('signing out ends the key', async ({ page, backend, tenant }) => {
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  const { key } = JSON.parse((await page.evaluate(() => sessionStorage.getItem('surehook-portal')))!) as { key: string }
  await page.route('**/portal-session', (route) => route.abort())
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByText('The server cannot be reached')).toBeVisible() // still signed in: the key lives
  await page.unroute('**/portal-session')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('heading', { name: 'You are signed out' })).toBeVisible()
  await accessible(page)
  expect((await backend.call('GET', `/v1/tenants/${tenant}/endpoints`, undefined, key)).httpStatus).toBe(401)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'The portal needs a link' })).toBeVisible()
})

test('a session that is ended elsewhere says so at once, and asks no more', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const link = await backend.portal(tenant)
  await page.goto(link.url)
  await expect(page.getByRole('link', { name: 'crm' }).first()).toBeVisible()
  await page.clock.install()
  const asked = requests(page)
  await backend.call('DELETE', `/v1/tenants/${tenant}/portal-links/${link.key_id}`)
  await page.clock.runFor(20_000)
  await expect(page.getByRole('heading', { name: 'Your session was ended' })).toBeVisible()
  await expect(page.getByText('You see older data')).toHaveCount(0)
  const refused = asked.length
  await page.clock.runFor(300_000)
  expect(asked.slice(refused), 'requests after the end').toEqual([])
  await page.reload()
  await expect(page.getByRole('heading', { name: 'The portal needs a link' })).toBeVisible()
})

test('a session ends with its key by the clock of the API, without a request', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await page.clock.install({ time: Date.now() + 50 * 60_000 }) // this machine's clock is wrong
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('link', { name: 'crm' }).first()).toBeVisible()
  const asked = requests(page)
  await page.clock.fastForward(59 * 60_000)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
  await expect.poll(() => asked.length).toBeGreaterThan(0)
  await page.route('**/v1/**', (route) => route.abort())
  const failed: string[] = []
  page.on('requestfailed', (r) => failed.push(r.url()))
  await page.clock.fastForward(61_000)
  await expect(page.getByRole('heading', { name: 'Your session has ended' })).toBeVisible()
  const before = failed.length
  await page.clock.runFor(300_000)
  expect(failed.length).toBe(before)
})

test('a key of the console that is revoked leads to the sign-in, and the page asks no more', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const { id, key } = await backend.call<{ id: string; key: string }>('POST', '/v1/keys', { name: 'desk', tenant: '*', scopes: ['admin'] })
  await page.goto(`${backend.address}/console/t/${tenant}`)
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('link', { name: 'crm' }).first()).toBeVisible()
  await page.clock.install()
  const asked = requests(page)
  await backend.call('DELETE', `/v1/keys/${id}`)
  await page.clock.runFor(20_000)
  await expect(page.getByText('The key is wrong, was revoked, or has expired.')).toBeVisible()
  await page.evaluate(() => fetch('/console/')) // the browser tells of requests late, and in their order
  const refused = asked.length
  await page.clock.runFor(300_000)
  expect(asked.slice(refused)).toEqual([])
})

/** The example of docs/portal.md, with other addresses. */
async function example(backend: { address: string }) {
  const [, page] = /```html\n([^]*?)```/.exec(await readFile('../docs/portal.md', 'utf8'))!
  expect(page).toContain('https://hooks.example.com')
  return page!.replaceAll('https://hooks.example.com', backend.address)
}

test('the embedding page of the documents renews the link, also without storage', async ({ browser, backend, tenant }) => {
  const links: { url: string; key_id: string }[] = []
  const page = await browser.newPage()
  const embedding = await host(Number(new URL(embedder()).port), await example(backend), async () => {
    const link = await backend.portal(tenant)
    links.push(link)
    return { url: link.url }
  })
  await page.addInitScript(() => {
    if (window.parent !== window) Object.defineProperty(window, 'sessionStorage', { get: () => { throw new DOMException('no', 'SecurityError') } })
    else {
      const all: unknown[] = ((window as unknown as { messages: unknown[] }).messages = [])
      addEventListener('message', (e) => all.push({ origin: e.origin, data: e.data as unknown }))
    }
  })
  type Message = { origin: string; data: { type: string } }
  const ended = async () => (await page.evaluate(() => (window as unknown as { messages: Message[] }).messages)).filter((m) => m.data.type === 'surehook.portal.ended')
  try {
    await page.goto(embedding.url)
    const frame = page.frameLocator('iframe')
    await expect(frame.getByRole('heading', { name: 'Overview' })).toBeVisible()
    expect(links.length).toBe(1)
    // The key ends elsewhere: the frame says so, and opens again.
    await backend.call('DELETE', `/v1/tenants/${tenant}/portal-links/${links[0]!.key_id}`)
    await frame.getByRole('link', { name: 'Events', exact: true }).click()
    await expect.poll(() => links.length).toBe(2)
    // Or its own poll was first, and the click was one in the new session.
    await frame.getByRole('link', { name: 'Overview', exact: true }).click()
    await expect(frame.getByRole('heading', { name: 'Overview' })).toBeVisible()
    expect(await ended()).toEqual([{ origin: backend.address, data: { type: 'surehook.portal.ended', reason: 'refused', tenant } }])
    // The frame is as high as the portal.
    const height = await page.frames()[1]!.evaluate(() => String(Math.ceil(document.getElementById('root')!.getBoundingClientRect().height)))
    await expect(page.locator('iframe')).toHaveAttribute('height', height)
    // The frame loads again, and has no storage to know its key from.
    await page.frames()[1]!.evaluate(() => location.reload())
    await expect.poll(() => links.length).toBe(3)
    await expect(frame.getByRole('heading', { name: 'Overview' })).toBeVisible()
    expect((await ended()).at(-1)).toEqual({ origin: backend.address, data: { type: 'surehook.portal.ended', reason: 'none', tenant: '' } })
  } finally {
    await page.close()
    embedding.stop()
  }
})

test('a frame may copy if the page around it allows that', async ({ browser, backend, tenant, receiver }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  for (const [allow, result] of [['allow="clipboard-write"', 'Copied'], ['', 'The browser does not allow copying']] as const) {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] })
    const page = await context.newPage()
    const embedding = await host(Number(new URL(embedder()).port), `<iframe src="${(await backend.portal(tenant)).url}" ${allow}></iframe>`)
    try {
      await page.goto(embedding.url)
      const frame = page.frameLocator('iframe')
      await frame.getByRole('link', { name: 'Endpoints', exact: true }).click()
      await frame.getByRole('link', { name: 'crm' }).click()
      await frame.getByRole('button', { name: /^Copy/ }).first().click()
      await expect(frame.getByRole('button', { name: result })).toBeVisible()
    } finally {
      await context.close()
      embedding.stop()
    }
  }
})

test('a frame that loads again after the end of its key names the tenant', async ({ browser, backend, tenant }) => {
  const page = await browser.newPage()
  const embedding = await host(Number(new URL(embedder()).port), `<iframe src="${backend.address}/portal"></iframe>`)
  await page.addInitScript((kept) => {
    const all: unknown[] = ((window as unknown as { messages: unknown[] }).messages = [])
    addEventListener('message', (e) => all.push(e.data))
    if (window.parent !== window) Object.defineProperty(window, 'sessionStorage', { value: { getItem: () => kept, removeItem() {} } })
  }, JSON.stringify({ key: 'shk_', tenant, link: { id: 'key_', scopes: ['read'], ends: 1 } }))
  try {
    await page.goto(embedding.url)
    await expect(page.frameLocator('iframe').getByRole('heading', { name: 'Your session has ended' })).toBeVisible()
    await expect.poll(() => page.evaluate(() => (window as unknown as { messages: unknown[] }).messages)).toEqual([{ type: 'surehook.portal.ended', reason: 'expired', tenant }])
  } finally {
    await page.close()
    embedding.stop()
  }
})

test('a page of an origin that a wildcard permits gets one message', async ({ browser, backend }) => {
  const page = await browser.newPage()
  const embedding = await host(Number(new URL(embedder()).port), `<iframe src="${backend.address}/portal"></iframe>`)
  await page.addInitScript(() => {
    const all: unknown[] = ((window as unknown as { messages: unknown[] }).messages = [])
    addEventListener('message', (e) => all.push(e.data))
  })
  try {
    // The origin of the page stands for one below *.example.com: the browser has compared it with the policy of the answer.
    for (const embedders of [`https://*.example.com ${embedder()}`, 'https://*.example.com']) {
      await page.unrouteAll()
      await page.route(`${backend.address}/portal`, async (route) => {
        const response = await route.fetch()
        const body = await response.text()
        expect(body).toContain(`data-embedders="${embedder()}`)
        await route.fulfill({ response, body: body.replace(`data-embedders="${embedder()}`, `data-embedders="${embedders}`) })
      })
      await page.goto(embedding.url)
      await expect(page.frameLocator('iframe').getByRole('heading', { name: 'The portal needs a link' })).toBeVisible()
      await page.frames()[1]!.evaluate((origin) => window.parent.postMessage('last', origin), embedder())
      const messages = () => page.evaluate(() => (window as unknown as { messages: unknown[] }).messages)
      await expect.poll(messages, embedders).toEqual([{ type: 'surehook.portal.ended', reason: 'none', tenant: '' }, 'last'])
    }
  } finally {
    await page.close()
    embedding.stop()
  }
})

test('a page of another origin gets no message', async ({ browser, backend, tenant }) => {
  const link = await backend.portal(tenant)
  const stranger = await host(0, `<iframe src="${link.url.replaceAll('&', '&amp;')}"></iframe>`)
  const page = await browser.newPage()
  await page.addInitScript(() => {
    const all: unknown[] = ((window as unknown as { messages: unknown[] }).messages = [])
    addEventListener('message', (e) => all.push(e.data))
  })
  try {
    // Even if the browser showed the frame.
    await page.route(`${backend.address}/portal*`, async (route) => {
      const response = await route.fetch()
      const headers = response.headers()
      delete headers['content-security-policy']
      await route.fulfill({ response, headers })
    })
    await backend.call('DELETE', `/v1/tenants/${tenant}/portal-links/${link.key_id}`)
    await page.goto(stranger.url)
    await expect(page.frameLocator('iframe').getByRole('heading', { name: 'This link is no longer valid' })).toBeVisible()
    await page.frames()[1]!.evaluate(() => window.parent.postMessage('last', '*'))
    await expect.poll(() => page.evaluate(() => (window as unknown as { messages: unknown[] }).messages)).toEqual(['last'])
  } finally {
    await page.close()
    stranger.stop()
  }
})

// What a link that may only read shows to press. A new control must be one that only reads, or hide with its scope.
const readOnly = [/^Theme:/, /^Sign out$/, /^Copy /, /^Copied$/, /^Show timeline$/, /^Clear filters$/, /^Answer$/, /^(Next|First) page$/, /^(24 hours|7 days|1 h|24 h)$/, /^Proof$/, /^(Request|Hide request)$/, /^Search/]

test('a link that may only read shows no button that it may not use', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/hook', { status: 400, body: 'no' })
  const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp' })
  const event = await backend.event(tenant, 'order.paid', {})
  await expect.poll(async () => JSON.stringify(await backend.call('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`))).toMatch(/"dead".*"dead"/)
  await backend.call('POST', `/v1/tenants/${tenant}/endpoints/erp/circuit/open`)
  const empty = `${tenant}-empty`
  for (const of of [tenant, empty]) {
    const refused: string[] = []
    page.on('response', (r) => void (r.status() === 403 && refused.push(r.url())))
    await page.goto('about:blank')
    await page.goto((await backend.portal(of, { scopes: ['read'] })).url)
    if (of === empty) await page.getByRole('button', { name: `Open ${of}` }).click()
    await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
    for (const path of ['', '/endpoints', `/endpoints/crm`, `/endpoints/crm?tab=settings`, `/endpoints/crm?tab=verify`, `/endpoints/crm?tab=history`, '/endpoints/erp', '/events', `/events/${event}`, '/deliveries', '/dead-letters']) {
      if (of === empty && path.includes('/e') && path !== '/endpoints' && path !== '/events') continue
      await page.goto(`${backend.address}/portal/t/${of}${path}`)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
      const names = await page.getByRole('button').evaluateAll((all) => all.map((b) => b.getAttribute('aria-label') ?? b.textContent ?? ''))
      expect(names.length, path).toBeGreaterThan(0)
      expect(names.filter((n) => !readOnly.some((r) => r.test(n))), path).toEqual([])
      expect(await page.getByRole('link', { name: /New|Create|Replays/ }).count(), path).toBe(0)
      await accessible(page)
    }
    for (const path of ['/new-endpoint', '/replays', '/replays/rpl_00000000000000000000000000']) {
      await page.goto(`${backend.address}/portal/t/${of}${path}`)
      await expect(page.getByRole('heading', { name: 'Not found' }), path).toBeVisible()
    }
    expect(refused, 'requests beyond the scope').toEqual([])
  }
  expect(endpoint).toMatch(/^ep_/)
})

test('what is hidden is not shown, whatever its class', async ({ page, backend, tenant }) => {
  await signIn(page, backend, `/t/${tenant}/new-endpoint`)
  await expect(page.getByLabel('URL')).toBeVisible()
  const shown = await page.evaluate(() => {
    const names = new Set<string>()
    const walk = (rules: CSSRuleList) => {
      for (const rule of rules) {
        if (rule instanceof CSSStyleRule) for (const [, name] of rule.selectorText.matchAll(/\.([\w-]+)/g)) names.add(name!)
        if ('cssRules' in rule) walk((rule as CSSGroupingRule).cssRules)
      }
    }
    for (const sheet of document.styleSheets) walk(sheet.cssRules)
    return [...names].filter((name) => {
      const element = document.createElement('div')
      element.className = name
      element.hidden = true
      document.body.append(element)
      const { display } = getComputedStyle(element)
      element.remove()
      return display !== 'none'
    })
  })
  expect(shown).toEqual([])
  const more = page.getByRole('button', { name: 'Body, authentication, limits' })
  for (const open of [false, true, false]) {
    await expect(page.getByLabel('Timeout')).toBeVisible({ visible: open })
    await more.click()
  }
})
