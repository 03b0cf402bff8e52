import { AxeBuilder } from '@axe-core/playwright'
import { test as base, expect, type Page } from '@playwright/test'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export { expect }

/** A text that sets a mark when a browser reads it as HTML or script. */
export const canary = `<img src=x onerror="window.broken=1"><script>window.broken=1</script>'"><svg onload=window.broken=1>`

export type Answer = { status: number; body?: string }

/** A receiver on loopback with an answer for each path. */
export class Receiver {
  readonly answers = new Map<string, Answer>()
  readonly requests: { path: string; headers: IncomingMessage['headers']; body: string }[] = []
  private server!: Server

  async start() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        this.requests.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString() })
        const { status, body = '' } = this.answers.get(request.url ?? '') ?? { status: 200 }
        response.writeHead(status, { 'content-type': 'text/html' }).end(body)
      })
    })
    await new Promise<void>((listening) => this.server.listen(0, '127.0.0.1', listening))
    return this
  }

  url(path: string) {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}${path}`
  }

  stop() {
    this.server.closeAllConnections()
    this.server.close()
  }
}

/** The API, as a backend calls it. */
export class Backend {
  readonly address = process.env.SUREHOOK_API!
  readonly key = process.env.SUREHOOK_KEY!

  async call<T = Record<string, unknown>>(method: string, path: string, body?: unknown, key = this.key): Promise<T & { httpStatus: number }> {
    const response = await fetch(this.address + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    })
    return { ...((await response.json().catch(() => ({}))) as T), httpStatus: response.status }
  }

  async endpoint(tenant: string, fields: Record<string, unknown>): Promise<string> {
    const made = await this.call<{ id: string }>('POST', `/v1/tenants/${tenant}/endpoints`, fields)
    expect(made.httpStatus, JSON.stringify(made)).toBe(201)
    return made.id
  }

  async event(tenant: string, event_type: string, payload: unknown): Promise<string> {
    const made = await this.call<{ id: string }>('POST', `/v1/tenants/${tenant}/events`, { event_type, payload })
    expect(made.httpStatus, JSON.stringify(made)).toBe(202)
    return made.id
  }

  /** Waits for the only delivery of the event to reach the state. */
  async settled(tenant: string, event: string, state: string): Promise<{ id: string; state: string }> {
    let found: { id: string; state: string } | undefined
    await expect
      .poll(async () => {
        const list = await this.call<{ data: { id: string; state: string }[] }>('GET', `/v1/tenants/${tenant}/events/${event}/deliveries`)
        found = list.data[0]
        return found?.state
      })
      .toBe(state)
    return found!
  }

  async portal(tenant: string, body: Record<string, unknown> = { ttl: '1h' }): Promise<{ url: string; key_id: string; expires_at: string }> {
    const link = await this.call<{ url: string; key_id: string; expires_at: string }>('POST', `/v1/tenants/${tenant}/portal-links`, body)
    const { pathname, hash } = new URL(link.url) // the local stack is behind another address
    return { ...link, url: this.address + pathname + hash }
  }
}

let tenants = 0

type World = { receiver: Receiver; backend: Backend; tenant: string; page: Page }

/** Each test has a tenant and a receiver of its own, and fails after a violation of the policy or an error of a script. */
export const test = base.extend<World>({
  receiver: async ({}, use) => {
    const receiver = await new Receiver().start()
    await use(receiver)
    receiver.stop()
  },
  backend: async ({}, use) => use(new Backend()),
  tenant: async ({}, use) => use(`t${Date.now()}-${++tenants}`),
  page: async ({ page, backend }, use) => {
    const faults: string[] = []
    page.on('pageerror', (e) => faults.push(e.message))
    page.on('console', (m) => {
      if (/Content Security Policy|Refused to/i.test(m.text())) faults.push(m.text())
    })
    page.on('request', (r) => {
      if (!/^(data|blob|about):/.test(r.url()) && !r.url().startsWith(backend.address)) faults.push(`request to ${r.url()}`)
    })
    await use(page)
    await page.unrouteAll({ behavior: 'ignoreErrors' }) // a page that polls may be in the middle of an answer
    expect(faults, 'violations of the policy, errors of scripts, requests to other hosts').toEqual([])
    expect(await page.evaluate(() => 'broken' in window).catch(() => false), 'a script of a receiver or caller ran').toBe(false)
  },
})

export async function signInByForm(page: Page, backend: Backend) {
  await page.goto(`${backend.address}/console`)
  await page.getByLabel('API key').fill(backend.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('heading', { name: 'Overview', level: 1 })).toBeVisible()
}

const slot = 'surehook-console'
const sessions = new Map<string, string>()

/** Signs in, and opens the page of the console. A later test takes the session that the form made in the first. */
export async function signIn(page: Page, backend: Backend, path = '') {
  const session = sessions.get(backend.key)
  if (session) {
    await page.goto(`${backend.address}/nowhere`)
    await page.evaluate(([slot, session]) => sessionStorage.setItem(slot!, session!), [slot, session])
  } else {
    await signInByForm(page, backend)
    sessions.set(backend.key, (await page.evaluate((slot) => sessionStorage.getItem(slot), slot))!)
  }
  await page.goto(`${backend.address}/console${path}`)
}

/** Opens the search by its keys, which a page hears once it shows the button. */
export async function openSearch(page: Page) {
  await expect(page.getByRole('button', { name: 'Search' })).toBeVisible()
  await page.keyboard.press('Control+k')
}

/** Opens the portal by a new link. */
export async function openPortal(page: Page, backend: Backend, tenant: string, menu = 'Main') {
  await page.goto((await backend.portal(tenant)).url)
  await expect(page.getByRole('navigation', { name: menu }).getByText(tenant)).toBeVisible()
}

/** Checks the page with axe: WCAG 2.1 A and AA. Colors on their way from one to another do not count. */
export async function accessible(page: Page) {
  await page.evaluate(() => document.fonts.ready)
  await page.evaluate(() => Promise.allSettled(document.getAnimations().filter((a) => a instanceof CSSTransition).map((a) => a.finished)))
  await expect(page.getByRole('status', { name: 'Loading' })).toHaveCount(0)
  const { violations } = await new AxeBuilder({ page }).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']).analyze()
  expect(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(' | ')}`)).toEqual([])
}

/** How a page is looked at: wide and light, narrow and dark; with LOOKS=all, as once a week, at three widths in both schemes. */
export const looks =
  process.env.LOOKS === 'all'
    ? [1440, 1024, 390].flatMap((width) => (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })))
    : ([{ width: 1440, colorScheme: 'light' }, { width: 390, colorScheme: 'dark' }] as const)

/** Looks at the page as it is. With SHOTS=folder it is drawn there. */
export async function lookAt(page: Page, name: string, check: () => Promise<void> = async () => undefined) {
  for (const { width, colorScheme } of looks) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await fits(page)
    await check()
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}-${width}-${colorScheme}.png` })
  }
}

/** Checks that nothing is wider than the page. After a change of its size charts are drawn anew, so the check waits. */
export async function fits(page: Page) {
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), page.url()).toBeLessThanOrEqual(0)
}

/** Checks that no two texts of the page, or of its dialog, touch, and that each label of a chart is inside of its chart. It waits as fits does. */
export async function apart(page: Page) {
  await page.evaluate(() => document.fonts.ready)
  await expect.poll(() => collisions(page), page.url()).toEqual([])
}

const collisions = (page: Page) =>
  page.evaluate(() => {
    type Box = { left: number; right: number; top: number; bottom: number }
    const meet = (a: Box, b: Box): Box => ({ left: Math.max(a.left, b.left), right: Math.min(a.right, b.right), top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom) })
    const empty = (a: Box) => a.right - a.left < 2 || a.bottom - a.top < 2
    const shown = (box: Box, e: Element | null): Box => (e ? shown(getComputedStyle(e).overflow === 'visible' ? box : meet(box, e.getBoundingClientRect()), e.parentElement) : box)
    const root = document.querySelector('[role=dialog], [role=alertdialog]') ?? document.getElementById('root')!
    const texts: { node: Node; box: Box }[] = []
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const of = node.parentElement!
      if (!node.nodeValue!.trim() || !of.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      for (const line of range.getClientRects()) {
        const box = shown(line, of)
        if (!empty(box)) texts.push({ node, box })
      }
    }
    const cut = [...document.querySelectorAll('.chart svg')].flatMap((svg) => {
      const { left, right, top, bottom } = svg.getBoundingClientRect()
      return [...svg.querySelectorAll('text')].filter((e) => {
        const a = e.getBoundingClientRect()
        return a.left < left - 1 || a.right > right + 1 || a.top < top - 1 || a.bottom > bottom + 1
      })
    })
    return [
      ...cut.map((e) => `${e.textContent} is cut`),
      ...texts.flatMap((a, i) => texts.slice(i + 1).flatMap((b) => (a.node === b.node || empty(meet(a.box, b.box)) ? [] : [`${a.node.nodeValue} on ${b.node.nodeValue}`]))),
    ]
  })

/** The origin that may show the portal in a frame. */
export const embedder = () => process.env.SUREHOOK_PORTAL_EMBEDDERS!

/** Serves a page of another origin on loopback, and the answers to its posts. */
export async function host(port: number, body: string, answer: () => Promise<unknown> = async () => ({})) {
  const server = createServer((request, response) => {
    if (request.method === 'POST') void answer().then((json) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(json)))
    else response.writeHead(200, { 'content-type': 'text/html' }).end(body)
  })
  await new Promise<void>((listening) => server.listen(port, 'localhost', listening))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
