import type { ChildProcess } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test as base, type BrowserContext, type Page } from '@playwright/test'
import Provider from 'oidc-provider'
import { startDev } from './start'
import { accessible } from './world'

const people: Record<string, { email: string; groups: string[] }> = {
  olga: { email: 'olga@example.com', groups: ['ops'] },
  sam: { email: 'sam@example.com', groups: ['desk'] },
  nora: { email: 'nora@example.com', groups: ['canteen'] },
}

/** A provider on loopback, and Surehook with its sign-in. lifetime is of the next ID tokens, in seconds. */
class Place {
  lifetime = 3600
  refresh = false
  address = ''
  key = ''
  issuer = ''
  private readonly keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  private server!: Server
  private dev!: ChildProcess

  async start() {
    this.server = createServer().listen(0, '127.0.0.1')
    await once(this.server, 'listening')
    this.issuer = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
    const { dev, api, key } = await startDev({
      SUREHOOK_OIDC_ISSUER: this.issuer,
      SUREHOOK_OIDC_CLIENT_ID: 'surehook-console',
      SUREHOOK_OIDC_ROLES: 'operator=ops;support=desk',
    })
    this.dev = dev
    this.address = api
    this.key = key
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: 'surehook-console',
          application_type: 'native', // http on loopback
          token_endpoint_auth_method: 'none',
          redirect_uris: [`${api}/console`],
          response_types: ['code'],
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified', 'groups'] },
      conformIdTokenClaims: false,
      clientBasedCORS: (_context: unknown, origin: string) => origin === api,
      findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => Promise.resolve({ sub: id, ...people[id], email_verified: true }) }),
      issueRefreshToken: () => Promise.resolve(this.refresh),
      ttl: { IdToken: () => this.lifetime, AccessToken: 600, Grant: 3600, Interaction: 600, Session: 3600, RefreshToken: 3600 },
      features: { devInteractions: { enabled: true }, revocation: { enabled: true } },
      jwks: { keys: [{ ...this.keys.privateKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }] },
      cookies: { keys: ['test'] },
    })
    this.server.on('request', provider.callback())
  }

  /** A token of the provider that ended an hour ago. */
  expired() {
    const now = Math.floor(Date.now() / 1000)
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const text = `${part({ alg: 'RS256', kid: 'k' })}.${part({ iss: this.issuer, aud: 'surehook-console', sub: 'olga', groups: ['ops'], iat: now - 7200, exp: now - 3600 })}`
    return `${text}.${sign('sha256', Buffer.from(text), this.keys.privateKey).toString('base64url')}`
  }

  async stop() {
    this.server.closeAllConnections()
    this.server.close()
    this.dev.kill('SIGTERM')
    await once(this.dev, 'exit')
  }
}

const test = base.extend<{ page: Page }>({
  page: async ({ page }, use) => {
    const faults = watched(page)
    await use(page)
    expect(faults, 'violations of the policy, errors of scripts').toEqual([])
  },
})

test.skip(!!process.env.LOCAL_STACK, 'the stack runs without an issuer')

const place = new Place()
test.beforeAll(() => place.start())
test.afterAll(() => place.stop())
test.beforeEach(() => {
  place.lifetime = 3600
  place.refresh = false
})

function watched(page: Page): string[] {
  const faults: string[] = []
  page.on('pageerror', (e) => faults.push(e.message))
  page.on('console', (m) => {
    if (/Content Security Policy|Refused to/i.test(m.text()) && page.url().startsWith(place.address)) faults.push(m.text())
  })
  return faults
}

/** Signs in at the provider, on the page that shows its form. */
async function atProvider(page: Page, name: string) {
  await page.getByPlaceholder('Enter any login').fill(name)
  await page.getByPlaceholder('and password').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

async function signIn(page: Page, name: string, path = '') {
  await page.goto(`${place.address}/console${path}`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await atProvider(page, name)
}

/** The token in the tab. */
const token = (page: Page) => page.evaluate(() => (JSON.parse(sessionStorage.getItem('surehook-console') ?? 'null') as { key: string } | null)?.key)

async function audit(tenant: string) {
  const answer = await fetch(`${place.address}/v1/tenants/${tenant}/audit`, { headers: { authorization: `Bearer ${place.key}` } })
  return ((await answer.json()) as { data: { action: string; key_id: string; key_name: string }[] }).data
}

test('an operator signs in, changes an endpoint, and stands in the changes', async ({ page }) => {
  await page.goto(`${place.address}/console`)
  await accessible(page)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await atProvider(page, 'olga')
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
  expect(new URL(page.url()).search).toBe('')
  await expect(page.getByText('olga@example.com')).toBeVisible()
  await accessible(page)
  await page.goto(`${place.address}/console/t/acme/new-endpoint`)
  await page.getByLabel('URL').fill('http://127.0.0.1:9/hook')
  await page.getByRole('button', { name: 'Create endpoint' }).click()
  await expect(page.getByText('whsec_')).toBeVisible()
  expect(await audit('acme')).toMatchObject([{ action: 'endpoint.create', key_id: 'user:olga@example.com', key_name: 'olga@example.com (olga)' }])
  await page.goto(`${place.address}/console/t/acme/changes`)
  await expect(page.getByRole('cell', { name: 'olga@example.com (olga)' })).toBeVisible()
  await page.goto(`${place.address}/console/keys`)
  await expect(page.getByRole('heading', { name: 'API keys' })).toBeVisible()
  await expect(page.getByRole('button', { name: 'New key' })).toHaveCount(0)
  const made = await fetch(`${place.address}/v1/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await token(page)}`, 'content-type': 'application/json' },
    body: '{"name":"mine","tenant":"*","scopes":["admin"]}',
  })
  expect(made.status).toBe(403)
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
  expect(await token(page)).toBeUndefined()
})

test('support reads and replays, without settings', async ({ page }) => {
  await signIn(page, 'sam', '/t/acme/endpoints')
  await expect(page.getByRole('heading', { name: 'Endpoints', level: 1 })).toBeVisible()
  expect(new URL(page.url()).pathname).toBe('/console/t/acme/endpoints')
  await expect(page.getByRole('link', { name: 'New endpoint' })).toHaveCount(0)
  const menu = page.getByRole('navigation', { name: 'Main' })
  await expect(menu.getByRole('link')).toHaveText(['Tenants', 'Event types', 'Overview', 'Endpoints', 'Events', 'Deliveries', 'Dead letters', 'Replays'])
  await page.getByRole('link', { name: /127\.0\.0\.1/ }).click()
  await expect(page.getByRole('button', { name: 'Pause' })).toHaveCount(0)
  await page.goto(`${place.address}/console/keys`)
  await expect(page.getByRole('heading', { name: 'Not found' })).toBeVisible()
  await page.goto(`${place.address}/console`)
  await expect(page.getByRole('link', { name: 'acme' })).toBeVisible()
  const refused = await fetch(`${place.address}/v1/tenants/acme/endpoints`, { method: 'POST', headers: { authorization: `Bearer ${await token(page)}` }, body: '{}' })
  expect(await refused.json()).toMatchObject({ status: 403, detail: 'the sign-in lacks the scope endpoints:write' })
})

test('a person without a role reads why', async ({ page }) => {
  await signIn(page, 'nora')
  await expect(page.getByRole('alert')).toHaveText('nora@example.com (nora) has no role in Surehook: ask an administrator for one of its groups')
  await accessible(page)
  expect(await token(page)).toBeUndefined()
})

test('an API key still opens the console', async ({ page }) => {
  await page.goto(`${place.address}/console`)
  await page.getByRole('button', { name: 'Use an API key' }).click()
  await page.getByLabel('API key').fill(place.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
})

test('an answer with another state begins no session', async ({ page }) => {
  await page.goto(`${place.address}/console?code=stolen&state=mine`)
  await expect(page.getByRole('alert')).toContainText('not the one that was started in this tab')
  expect(new URL(page.url()).search).toBe('')
  expect(await token(page)).toBeUndefined()
})

test('a person who says no at the provider can try again', async ({ page }) => {
  await page.goto(`${place.address}/console`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: /Cancel/ }).click()
  await expect(page.getByRole('alert')).toContainText('not completed')
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeEnabled()
})

/**
 * Signs in with a token that ends, for the page, in 30 seconds more than its lifetime, and types something. The clock of the
 * page is moved then; later tokens live for an hour.
 */
async function typed(page: Page, lifetime: number) {
  place.lifetime = lifetime
  await page.clock.install()
  await signIn(page, 'olga', '/t/acme/new-endpoint')
  await page.getByLabel('URL').fill('https://example.com/typed')
  place.lifetime = 3600
}

test('the page stays when the sign-in ends, and goes on after a sign-in in another tab', async ({ page, context }) => {
  await typed(page, 60)
  const before = await token(page)
  await page.clock.fastForward(91_000)
  await expect(page.getByRole('alertdialog')).toContainText('Your sign-in has ended')
  await accessible(page)
  const tab = await opened(context, () => page.getByRole('button', { name: 'Sign in again' }).click())
  await tab.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
  await expect(page.getByLabel('URL')).toHaveValue('https://example.com/typed')
  expect(await token(page)).not.toBe(before)
  await tab.close()
})

async function opened(context: BrowserContext, act: () => Promise<void>) {
  const [tab] = await Promise.all([context.waitForEvent('page'), act()])
  return tab
}

test('a refresh token renews the sign-in', async ({ page }) => {
  place.refresh = true
  await typed(page, 120)
  const before = await token(page)
  await page.clock.fastForward(91_000)
  await expect.poll(() => token(page)).not.toBe(before)
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
  await expect(page.getByLabel('URL')).toHaveValue('https://example.com/typed')
})

test('an expired token gets 401, and ends the sign-in', async ({ page }) => {
  await signIn(page, 'olga', '/tenants')
  await expect(page.getByRole('heading', { name: 'Tenants', level: 1 })).toBeVisible()
  const key = place.expired()
  expect((await fetch(`${place.address}/v1/caller`, { headers: { authorization: `Bearer ${key}` } })).status).toBe(401)
  await page.evaluate((key) => {
    const open = JSON.parse(sessionStorage.getItem('surehook-console')!) as { key: string }
    sessionStorage.setItem('surehook-console', JSON.stringify({ ...open, key }))
  }, key)
  await page.reload()
  await expect(page.getByRole('alertdialog')).toContainText('Your sign-in has ended')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
  expect(await token(page)).toBeUndefined()
})
