import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { accessible, expect, openPortal, signIn, test, type Backend } from './world'

const more = /^(Body, authentication, limits|Advanced)/

async function choose(page: Page, list: string, option: string | RegExp) {
  await page.getByRole('combobox', { name: list }).click()
  await page.getByRole('option', { name: option }).click()
}

async function save(page: Page) {
  await page.getByRole('button', { name: 'Save changes' }).click()
}

// Saves, and waits for the answer: the message of an earlier save may still be visible.
async function saved(page: Page) {
  const answer = page.waitForResponse((r) => r.request().method() === 'PATCH')
  await save(page)
  expect((await answer).status()).toBe(200)
  await expect(page.getByText('The settings are saved').last()).toBeVisible()
  await expect(page.locator('.wrong, .notice.bad')).toHaveCount(0)
}

// Sends an event, and returns the header that the receiver gets.
async function authorization(backend: Backend, tenant: string, requests: { headers: { authorization?: string } }[]) {
  const before = requests.length
  await backend.event(tenant, 'order.paid', {})
  await expect.poll(() => requests.length).toBe(before + 1)
  return requests.at(-1)!.headers.authorization
}

for (const app of ['console', 'portal'] as const) {
  test(`${app}: the authentication of an endpoint is set, refused at the field, kept, replaced and removed`, async ({ page, backend, receiver, tenant }) => {
    if (app === 'portal') {
      await openPortal(page, backend, tenant)
      await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
    } else await signIn(page, backend, `/t/${tenant}`)
    await page.getByRole('link', { name: 'New endpoint' }).click()
    await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
    await page.getByRole('button', { name: more }).click()
    await choose(page, 'Authentication', 'Basic: name and password')
    await accessible(page)
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await expect(page.locator('.wrong')).toHaveCount(2) // a name and a password
    await page.getByLabel('User name').fill('sure:hook')
    await page.getByLabel('Password').fill('correct horse')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await expect(page.locator('.wrong')).toHaveCount(1)
    await accessible(page)
    await page.getByLabel('User name').fill('surehook')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('tab', { name: 'Settings' })).toBeVisible()
    expect(await authorization(backend, tenant, receiver.requests)).toBe(`Basic ${btoa('surehook:correct horse')}`)

    await page.getByRole('tab', { name: 'Settings' }).click()
    await expect(page.getByLabel('User name')).toHaveValue('surehook')
    await expect(page.getByLabel('Password')).toHaveValue('')
    await page.getByLabel('User name').fill('another')
    await saved(page)
    expect(await authorization(backend, tenant, receiver.requests)).toBe(`Basic ${btoa('another:correct horse')}`)

    await choose(page, 'Authentication', 'Bearer token')
    await save(page)
    await expect(page.locator('.wrong')).toHaveCount(1) // the stored password is no token
    await accessible(page)
    await page.getByLabel('Token').fill('tok_1')
    await saved(page)
    await page.getByLabel('Description').fill('untouched token')
    await saved(page)
    expect(await authorization(backend, tenant, receiver.requests)).toBe('Bearer tok_1')

    await choose(page, 'Authentication', 'None')
    await page.getByLabel('Headers', { exact: true }).fill('Authorization: Own scheme')
    await saved(page)
    expect(await authorization(backend, tenant, receiver.requests)).toBe('Own scheme')
    await choose(page, 'Authentication', 'Bearer token')
    await page.getByLabel('Token').fill('tok_2')
    await save(page)
    await expect(page.locator('.field', { has: page.getByRole('combobox', { name: 'Authentication' }) }).locator('.wrong')).toContainText('header Authorization')
  })
}

test('a URL of another origin asks for header values and the secret again', async ({ page, backend, receiver, tenant }) => {
  await backend.call('POST', `/v1/tenants/${tenant}/endpoints`, {
    url: receiver.url('/hook'), uid: 'crm', headers: { 'X-Api-Key': 'k1' }, auth: { type: 'bearer', token: 'tok_1' },
  })
  await signIn(page, backend, `/t/${tenant}/endpoints/crm`)
  await page.getByRole('tab', { name: 'Settings' }).click()
  const wrong = (label: string) => page.locator('.field', { has: page.getByLabel(label, { exact: true }) }).locator('.wrong')
  await page.getByLabel('URL', { exact: true }).fill('https://moved.example.com/hook')
  await expect(page.getByText('A new origin: enter header values')).toBeVisible()
  await accessible(page)
  await save(page)
  await expect(wrong('Headers')).toContainText('X-Api-Key: must be given again, or removed')
  await expect(wrong('Token')).toContainText('must be given again, or removed')
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/other'))
  await expect(page.getByText('A new origin: enter header values')).toHaveCount(0)
  await saved(page)
  await page.getByLabel('URL', { exact: true }).fill('https://moved.example.com/hook')
  await page.getByLabel('Token').fill('tok_2')
  await page.getByLabel('Headers', { exact: true }).fill('')
  await saved(page)
})

test('OAuth 2.0 is set, refused at the fields, and keeps its secret and its other parts', async ({ page, backend, receiver, tenant }) => {
  receiver.answers.set('/token', { status: 200, body: '{"access_token": "at_1", "token_type": "Bearer", "expires_in": 3600}' })
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await page.getByRole('button', { name: more }).click()
  await choose(page, 'Authentication', 'OAuth 2.0 client credentials')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.wrong')).toHaveCount(3) // a URL, an id and a secret
  await accessible(page)
  await page.getByLabel('Token URL').fill(receiver.url('/token'))
  await page.getByLabel('Client id', { exact: true }).fill('surehook')
  await page.getByLabel('Client secret').fill('correct-horse')
  await choose(page, 'Client id and secret in', 'The body')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const of = (path: string) => receiver.requests.filter((r) => r.path === path)
  const deliver = async (nth: number) => {
    await backend.event(tenant, 'order.paid', {})
    await expect.poll(() => of('/hook').map((r) => r.headers.authorization)).toEqual(Array(nth).fill('Bearer at_1'))
  }
  await deliver(1)
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Description').fill('untouched client')
  await saved(page)
  await deliver(2)
  await page.getByLabel('Scope').fill('hooks')
  await save(page)
  await expect(page.locator('.wrong')).toHaveCount(1) // the stored secret is for no other scope
  await page.getByLabel('Client secret').fill('correct-horse')
  await saved(page)
  await deliver(3)
  const last = new URLSearchParams(of('/token').at(-1)!.body)
  expect(Object.fromEntries(last)).toEqual({ grant_type: 'client_credentials', client_id: 'surehook', client_secret: 'correct-horse', scope: 'hooks' })
})

// A new certificate that signs itself, with its key, as PEM.
function certificate(subject: string) {
  const folder = mkdtempSync(join(tmpdir(), 'surehook-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '90', '-subj', `/CN=${subject}`, '-keyout', key, '-out', cert], { stdio: 'pipe' })
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
}

test('TLS settings are set, refused at the fields, kept and removed', async ({ page, backend, receiver, tenant }) => {
  const [authority, client, other] = [certificate('authority'), certificate('client.example.com'), certificate('other')]
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await page.getByLabel('Alias').fill('crm')
  await page.getByRole('button', { name: more }).click()
  await page.getByRole('checkbox', { name: 'Trust certificate authorities of my own' }).click()
  await page.getByRole('checkbox', { name: 'Present a client certificate (mutual TLS)' }).click()
  await page.getByLabel('Certificate authorities', { exact: true }).fill('none')
  await page.getByLabel('Client certificate', { exact: true }).fill(client.cert)
  await page.getByLabel('Private key').fill(other.key)
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.field', { has: page.getByLabel('Certificate authorities', { exact: true }) }).locator('.wrong')).toBeVisible()
  await expect(page.locator('.field', { has: page.getByLabel('Private key') }).locator('.wrong')).toBeVisible()
  await accessible(page)
  await page.getByLabel('Certificate authorities', { exact: true }).fill(authority.cert)
  await page.getByLabel('Private key').fill(client.key)
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const stored = async () => (await backend.call<{ tls?: { ca?: string; subject?: string } }>('GET', `/v1/tenants/${tenant}/endpoints/crm`)).tls
  expect(await stored()).toMatchObject({ ca: '***', certificate: '***', key: '***' })
  expect((await stored())?.subject).toContain('client.example.com')

  await page.getByRole('tab', { name: 'Settings' }).click()
  await expect(page.getByText('client.example.com')).toBeVisible()
  await expect(page.getByLabel('Private key')).toHaveValue('')
  await page.getByLabel('Description').fill('untouched')
  await saved(page)
  expect(await stored()).toMatchObject({ ca: '***', certificate: '***', key: '***' })
  await page.getByRole('checkbox', { name: 'Trust certificate authorities of my own' }).click()
  await saved(page)
  expect((await stored())?.ca).toBeUndefined()
  expect((await stored())?.subject).toContain('client.example.com')
  await page.getByRole('checkbox', { name: 'Present a client certificate (mutual TLS)' }).click()
  await saved(page)
  expect(await stored()).toBeUndefined()
})

test('coalescing is set, refused at the field, changed and ended', async ({ page, backend, receiver, tenant }) => {
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await page.getByLabel('Alias').fill('crm')
  await page.getByRole('button', { name: more }).click()
  await page.getByRole('checkbox', { name: 'Deliver the events of a window in common requests' }).click()
  await page.getByLabel('Window', { exact: true }).fill('6m')
  await page.getByLabel('At most events').fill('many')
  await page.getByLabel('At most bytes').fill('1')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  for (const label of ['Window', 'At most events', 'At most bytes']) {
    await expect(page.locator('.field', { has: page.getByLabel(label, { exact: true }) }).locator('.wrong'), label).toBeVisible()
  }
  await accessible(page)
  await page.getByLabel('Window', { exact: true }).fill('1s')
  await page.getByLabel('At most events').fill('10')
  await page.getByLabel('At most bytes').fill('')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  const stored = async () => (await backend.call<{ coalesce?: unknown }>('GET', `/v1/tenants/${tenant}/endpoints/crm`)).coalesce
  expect(await stored()).toEqual({ window: '1s', max_events: 10, max_bytes: 262_144 })
  await backend.event(tenant, 'order.paid', { order: 1 })
  await expect.poll(() => receiver.requests.map((r) => (JSON.parse(r.body) as { type: string }).type)).toEqual(['webhook.batch'])

  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('At most in flight').fill('5')
  await save(page)
  await expect(page.locator('.wrong')).toContainText('cannot be combined with max_in_flight')
  await page.getByLabel('At most in flight').fill('0')
  await saved(page)
  expect(await stored()).toEqual({ window: '1s', max_events: 10, max_bytes: 262_144 })
  await page.getByRole('checkbox', { name: 'Deliver the events of a window in common requests' }).click()
  await saved(page)
  expect(await stored()).toBeUndefined()
})

test('one choice orders an endpoint, and is refused together with coalescing', async ({ page, backend, receiver, tenant }) => {
  const id = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm' })
  const stored = async () => {
    const { ordered, on_failure } = await backend.call<{ ordered: boolean; on_failure: string }>('GET', `/v1/tenants/${tenant}/endpoints/${id}`)
    return ordered ? on_failure : 'any'
  }
  await signIn(page, backend, `/t/${tenant}/endpoints/${id}?tab=settings`)
  for (const [chosen, want] of [[/is skipped$/, 'skip'], [/blocks$/, 'block']] as const) {
    await choose(page, 'Order', chosen)
    await saved(page)
    expect(await stored()).toBe(want)
  }
  await page.getByRole('checkbox', { name: 'Deliver the events of a window in common requests' }).click()
  await save(page)
  await expect(page.locator('.wrong')).toContainText('cannot be combined with')
  await choose(page, 'Order', 'Any')
  await saved(page)
  expect(await stored()).toBe('any')
})

test('messages about lists name the line', async ({ page, backend, receiver, tenant }) => {
  await signIn(page, backend, `/t/${tenant}`)
  await page.getByRole('link', { name: 'New endpoint' }).click()
  await page.getByLabel('URL', { exact: true }).fill(receiver.url('/hook'))
  await page.getByLabel('Event types').fill('order.*\nbad type')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.locator('.field', { has: page.getByLabel('Event types') }).locator('.wrong')).toHaveText(/^2: /)
})

test('a test event has an example of the catalogue, or a payload of the user', async ({ page, backend, receiver, tenant }) => {
  const [type, plain] = [`${tenant}.paid`, `${tenant}.plain`]
  await backend.call('PUT', `/v1/event-types/${type}`, { description: 'An order was paid.', example: { order: 1042 } })
  await backend.call('PUT', `/v1/event-types/${plain}`, { description: 'Without an example.' })
  try {
    const endpoint = await backend.endpoint(tenant, { url: receiver.url('/hook'), uid: 'crm', event_types: ['other.*'] })
    await openPortal(page, backend, tenant)
    const sends = async (fill: () => Promise<void>) => {
      await page.goto(`${backend.address}/portal/t/${tenant}/endpoints/${endpoint}`)
      await page.getByRole('button', { name: 'Send test' }).click()
      await expect(page.getByRole('combobox', { name: 'Type' })).toBeVisible()
      await fill()
      await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
    }
    const dialog = page.getByRole('dialog')
    const got = async () => {
      await expect(page.getByText('Attempt 1: 200 Delivered')).toBeVisible()
      return receiver.requests.at(-1)!.body
    }

    await sends(async () => {
      await accessible(page)
      await choose(page, 'Type', type)
      await expect(dialog.getByLabel('Payload')).toHaveValue('{\n  "order": 1042\n}')
      await accessible(page)
    })
    await expect(page.getByRole('heading', { name: 'webhook.test', level: 1 })).toBeVisible()
    expect(JSON.parse(await got())).toMatchObject({ type: 'webhook.test', data: { order: 1042 } })

    await sends(async () => {
      await choose(page, 'Type', plain)
      await dialog.getByLabel('Payload').fill('{"mine":')
      await dialog.getByRole('button', { name: 'Send', exact: true }).click()
      await expect(dialog.locator('.wrong')).toHaveText('is not valid JSON')
      await dialog.getByLabel('Payload').fill('{"mine":  12345678901234567890}')
      await choose(page, 'Type', type)
      await expect(dialog.getByLabel('Payload')).toHaveValue('{"mine":  12345678901234567890}') // an example replaces nothing
      await dialog.getByRole('button', { name: 'Use the example' }).click()
      await expect(dialog.getByLabel('Payload')).toHaveValue('{\n  "order": 1042\n}')
      await dialog.getByLabel('Payload').fill('{"mine":  12345678901234567890}')
    })
    await expect(page.getByRole('heading', { name: 'webhook.test', level: 1 })).toBeVisible()
    expect(await got()).toContain('{"mine":  12345678901234567890}')

    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Events' }).click()
    await expect(page.getByRole('heading', { name: 'Events', level: 1 })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Send a test event' })).toHaveCount(0) // the key of a portal posts no events
  } finally {
    for (const name of [type, plain]) await backend.call('DELETE', `/v1/event-types/${name}`)
  }
})
