import { createHash } from 'node:crypto'
import { accessible, apart, expect, fits, openPortal, signIn, test } from './world'

test('every attempt has a proof, also a success', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/down', { status: 400, body: 'no such order' })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'erp', event_types: ['order.paid'] })
  await backend.endpoint(tenant, { url: receiver.url('/down'), uid: 'crm', event_types: ['invoice.created'] })
  const good = await backend.event(tenant, 'order.paid', { order: 'Ä1' })
  const bad = await backend.event(tenant, 'invoice.created', {})
  const delivered = await backend.settled(tenant, good, 'delivered')
  await backend.settled(tenant, bad, 'dead')
  const sha = (path: string) => createHash('sha256').update(receiver.requests.find((r) => r.path === path)!.body).digest('hex')
  const proof = async () => JSON.parse(await page.getByRole('dialog').getByLabel('Proof', { exact: true }).innerText()) as Record<string, unknown>

  await signIn(page, backend, `/t/${tenant}/events/${good}`)
  await page.getByRole('button', { name: 'Proof' }).click()
  await expect(page.getByRole('dialog').getByText(good).first()).toBeVisible()
  expect(await proof()).toMatchObject({ event_id: good, delivery_id: delivered.id, attempt: 1, status: 200, outcome: 'delivered', body_sha256: sha('/hook') })
  await accessible(page)
  await page.getByRole('button', { name: 'Close' }).click()

  await page.goto(`${backend.address}/console/t/${tenant}/events/${bad}`)
  await page.getByRole('button', { name: 'Proof' }).click()
  await expect(page.getByRole('dialog').getByText(bad).first()).toBeVisible()
  const failed = await proof()
  expect(failed).toMatchObject({ status: 400, response_body: 'no such order', body_sha256: sha('/down') })
  expect(failed.request_headers).toMatchObject({ 'Webhook-Id': bad })
  expect(failed.response_headers).toBeTruthy()

  await openPortal(page, backend, tenant)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${backend.address}/portal/t/${tenant}/events/${good}?lang=de`)
  await page.getByRole('button', { name: 'Nachweis' }).click()
  await expect(page.getByRole('dialog').getByText(good).first()).toBeVisible()
  await accessible(page)
  await fits(page)
  await apart(page)
})
