import { accessible, expect, signIn, test } from './world'

test('a transformation is written from a preset, previewed, corrected at its mistake, and saved', async ({ page, backend, receiver, tenant }) => {
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  await signIn(page, backend, `/t/${tenant}/endpoints/crm`)
  await page.getByRole('tab', { name: 'Settings' }).click()
  const expression = page.getByLabel('Transformation', { exact: true })
  const preview = page.getByRole('button', { name: 'Preview' })

  await page.getByLabel('Payload').fill('{"id": 9007199254740993}')
  await preview.click()
  await expect(page.getByText('"data":{"id": 9007199254740993}}')).toBeVisible() // the standard envelope
  await page.getByRole('combobox', { name: 'Preset' }).click()
  await page.getByRole('option', { name: 'CloudEvents' }).click()
  await preview.click()
  for (const part of ['"specversion":"1.0"', 'Content-Type: application/cloudevents+json', '"data":{"id":9007199254740993}']) {
    await expect(page.getByLabel('The request')).toContainText(part)
  }
  await accessible(page)

  await expression.fill('{\n  "body": evnt.data\n}')
  await preview.click()
  await expect(page.getByText(/^line 2, column 11: undeclared reference to 'evnt'/)).toBeVisible()
  expect(await expression.evaluate((area: HTMLTextAreaElement) => area.value.slice(area.selectionStart))).toBe('evnt.data\n}')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.locator('.wrong').getByText("line 2, column 11: undeclared reference to 'evnt'")).toBeVisible()
  await accessible(page)

  await expression.fill('{"body": "id " + string(event.data.id)}')
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('The settings are saved').last()).toBeVisible()
  await backend.event(tenant, 'order.paid', { id: 7 })
  await expect.poll(() => receiver.requests.length).toBe(1)
  expect(receiver.requests[0]!.body).toBe('id 7')
})

test('a failed attempt shows its request, and copies it as curl', async ({ page, context, backend, receiver, tenant }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  receiver.answers.set('/hook', { status: 404 })
  await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm', headers: { 'X-Key': 'hush' } })
  const event = await backend.event(tenant, 'order.paid', { id: "it's 7" })
  await expect.poll(() => receiver.requests.length).toBe(1)
  await signIn(page, backend, `/t/${tenant}/events/${event}`)
  await expect(page.getByText(/first byte /)).toBeVisible()
  await page.getByRole('button', { name: 'Request', exact: true }).click()
  const request = page.getByLabel('Request', { exact: true })
  for (const part of ['X-Key: ***', `Webhook-Id: ${event}`, '"data":{"id":"it\'s 7"}}']) {
    await expect(request).toContainText(part)
  }
  await accessible(page)
  await page.getByRole('button', { name: 'Copy curl' }).click()
  const curl = await page.evaluate(() => navigator.clipboard.readText())
  expect(curl).toContain(`-H 'Webhook-Signature: ${receiver.requests[0]!.headers['webhook-signature']}'`)
  await backend.endpoint(tenant, { url: receiver.url('/other'), uid: 'other' })
  await page.reload()
  await page.getByRole('button', { name: 'Send to…' }).click()
  await expect(page.getByRole('button', { name: 'Send to', exact: true })).toBeDisabled()
  await page.getByRole('combobox', { name: 'Endpoint' }).fill('other')
  await page.getByRole('combobox', { name: 'Endpoint' }).press('Enter')
  await page.getByRole('button', { name: 'Send to', exact: true }).click()
  await expect.poll(() => receiver.requests.at(-1)!.path).toBe('/other')
  expect(curl).toContain(`"it'\\''s 7"`)
})

test('an endpoint signs with two profiles while its receiver moves', async ({ page, backend, receiver, tenant }) => {
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await page.getByRole('button', { name: /^Body, authentication, limits/ }).click()
  await page.getByRole('combobox', { name: 'Signature', exact: true }).click()
  await page.getByRole('option', { name: 'Like GitHub' }).click()
  await expect(page.getByText('The time is not signed')).toBeVisible()
  await page.getByRole('combobox', { name: 'Second signature' }).click()
  await page.getByRole('option', { name: 'Standard Webhooks' }).click()
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await backend.event(tenant, 'order.paid', { id: 7 })
  await expect.poll(() => receiver.requests.length).toBe(1)
  const { headers } = receiver.requests[0]!
  expect(headers['x-hub-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/)
  expect(headers['webhook-signature']).toMatch(/^v1,/)
})
