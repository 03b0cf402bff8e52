import { openPortal, test } from './world'
test('shots', async ({ browser, backend, receiver, tenant }) => {
  test.setTimeout(300_000)
  for (const [name, group, description] of [['order.paid','Orders','An order was paid.'],['order.shipped','Orders','An order left the warehouse.'],['invoice.created','Billing','An invoice was created.']] as const)
    await backend.call('PUT', `/v1/event-types/${name}`, { description, group, schema: { type: 'object', required: ['order'], properties: { order: { type: 'integer' } } }, example: { order: 1042 } })
  receiver.answers.set('/bad', { status: 500, body: 'boom' })
  const good = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const bad = await backend.endpoint(tenant, { url: receiver.url('/bad'), uid: 'erp', retry: { schedule: ['1s'], jitter: 'none' }, circuit: { failures: 3, cooldown: '5m' } })
  for (let i = 0; i < 6; i++) await backend.event(tenant, 'order.paid', { order: i })
  await new Promise((r) => setTimeout(r, 4000))
  for (const lang of ['en', 'de']) for (const scheme of ['light', 'dark'] as const) for (const width of [1440, 390]) {
    if ((lang === 'en') !== (scheme === 'light') && width === 390) continue
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme, locale: lang === 'de' ? 'de-DE' : 'en-GB', timezoneId: 'Europe/Berlin' })
    const page = await context.newPage()
    await openPortal(page, backend, tenant, lang === 'de' ? 'Hauptmenü' : 'Main')
    for (const [name, path] of [['overview', ''], ['bad', `/endpoints/${bad}`], ['verify', `/endpoints/${good}?tab=verify`], ['history', `/endpoints/${bad}?tab=history`], ['settings', `/endpoints/${good}?tab=settings`], ['new', '/new-endpoint'], ['dead', '/dead-letters'], ['deliveries', '/deliveries']] as const) {
      await page.goto(`${backend.address}/portal/t/${tenant}${path}`)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(300)
      await page.screenshot({ path: `/tmp/shots/${name}-${lang}-${scheme}-${width}.png` })
    }
    for (const [name, path] of [['types', '/event-types'], ['type', '/event-types/order.paid']] as const) {
      await page.goto(`${backend.address}/portal${path}`)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(300)
      await page.screenshot({ path: `/tmp/shots/${name}-${lang}-${scheme}-${width}.png` })
    }
    await context.close()
  }
})
