import { once } from 'node:events'
import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startDev } from './start'
import { accessible, Backend, expect, openPortal, signIn, test as base } from './world'

// The stack on an emulator asks no receivers.
base.skip(!!process.env.LOCAL_STACK)

let dev: ChildProcess
let settings: { address: string; key: string }

base.beforeAll(async () => {
  const started = await startDev({ SUREHOOK_OWNERSHIP: 'challenge' })
  dev = started.dev
  settings = { address: started.api, key: started.key }
})

base.afterAll(async () => {
  dev.kill('SIGTERM')
  await once(dev, 'exit')
})

const test = base.extend<{ confirming: string }>({
  backend: async ({}, use) => use(Object.assign(new Backend(), settings)),
  // A receiver that answers challenges.
  confirming: async ({}, use) => {
    const server = createServer((request, response) => {
      let text = ''
      request.on('data', (chunk: Buffer) => (text += chunk))
      request.on('end', () => response.end(JSON.stringify({ challenge: (JSON.parse(text) as { data: { challenge?: string } }).data.challenge })))
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
    server.closeAllConnections()
    server.close()
  },
})

const notice = 'Before the endpoint is saved, your server must confirm this URL.'

test('portal: the form says how to confirm a URL, and what went wrong', async ({ page, backend, receiver, tenant, confirming }) => {
  await openPortal(page, backend, tenant)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await expect(page.getByText(notice)).toBeVisible()
  await page.getByRole('button', { name: 'How to confirm' }).click()
  await expect(page.getByText('"type": "webhook.challenge"')).toBeVisible()
  await accessible(page)
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook')) // it answers 200 and nothing more
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.wrong')).toContainText('could not be verified: the endpoint answered 200 without the challenge')
  await accessible(page)
  await page.getByLabel('URL', { exact: true }).fill(confirming)
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.getByText(/^whsec_/)).toBeVisible()
})

test('console: another URL needs a confirmation, all else does not', async ({ page, backend, receiver, tenant, confirming }) => {
  const endpoint = await backend.endpoint(tenant, { url: confirming })
  await signIn(page, backend, `/t/${tenant}/endpoints/${endpoint}`)
  await page.getByRole('tab', { name: 'Settings' }).click()
  await expect(page.getByLabel('URL', { exact: true })).toHaveValue(confirming)
  await expect(page.getByText(notice)).toHaveCount(0)
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await expect(page.getByText(notice)).toBeVisible()
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.locator('.wrong')).toContainText('could not be verified')
  await page.getByLabel('URL', { exact: true }).fill(`${confirming}/2`)
  await page.getByRole('button', { name: 'Save changes' }).click()
  await expect(page.getByText('The settings are saved')).toBeVisible()
  await expect(page.getByText(notice)).toHaveCount(0)
})
