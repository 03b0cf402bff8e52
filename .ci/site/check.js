// Walks the site of the documents as a visitor does: every link and anchor from the first page on, ten searches whose right
// page comes first, the search of the API's reference, the diagrams and the version. check.js FOLDER, with CHROMIUM.
import { createServer } from 'node:http'
import { readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('@playwright/test')
const folder = process.argv[2]
const wrong = []
const expect = (good, what) => good || wrong.push(what)

const types = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.svg': 'image/svg+xml', '.png': 'image/png' }
const server = createServer(async (request, response) => {
  let path = join(folder, decodeURIComponent(new URL(request.url, 'http://site').pathname))
  try {
    if ((await stat(path)).isDirectory()) path = join(path, 'index.html')
    response.setHeader('Content-Type', types[extname(path)] ?? 'text/plain')
    response.end(await readFile(path))
  } catch {
    response.writeHead(404).end()
  }
})
await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
const site = `http://127.0.0.1:${server.address().port}/`
const home = new URL(/url=([^"]+)/.exec(await (await fetch(site)).text())[1], site).href

// Every link of this host leads to a page, and to an anchor of that page.
const pages = new Map()
async function crawl(address) {
  if (pages.has(address)) return pages.get(address)
  const response = await fetch(address)
  const page = { status: response.status, ids: new Set(), links: [] }
  pages.set(address, page)
  if (response.headers.get('content-type') !== 'text/html') return page
  const html = (await response.text()).replace(/<script.*?<\/script>/gs, '')
  for (const [, id] of html.matchAll(/\bid="([^"]+)"/g)) page.ids.add(id)
  for (const [, target] of html.matchAll(/\b(?:href|src|srcset)="([^"]+)"/g)) {
    const link = new URL(target.replaceAll('&amp;', '&'), address)
    if (link.origin === new URL(site).origin) page.links.push(link)
  }
  return page
}
const todo = [home]
for (const address of todo) {
  for (const link of (await crawl(address)).links) {
    const to = link.href.split('#')[0]
    if (!pages.has(to)) todo.push(to)
    const { status, ids } = await crawl(to)
    expect(status === 200, `${address} leads to ${to}, which is a ${status}`)
    expect(!link.hash || /^#(\/|__|only-)/.test(link.hash) || ids.has(decodeURIComponent(link.hash.slice(1))), `${address} leads to ${link.href}, an anchor that is missing`)
  }
}
expect(pages.size > 90, `the walk saw ${pages.size} files`)

const searches = {
  'verify signature': 'receiving/',
  'retry schedule': 'api/',
  'circuit open': 'circuit/',
  'replay dead letters': 'api/',
  'private receivers': 'private/',
  'rotate secret': 'receiving/',
  'rate limit': 'limits/',
  'migrate from svix': 'migrating/',
  'deploy terraform': 'repository/examples/terraform/',
  'embed portal': 'portal/',
}
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM })
const page = await browser.newPage()
page.on('pageerror', (error) => wrong.push(`an error of a script: ${error.message}`))
page.on('request', (request) => expect(new URL(request.url()).origin === new URL(site).origin || request.url().startsWith('data:'), `asks ${request.url()}`))
for (const [words, right] of Object.entries(searches)) {
  await page.goto(`${home}?q=${encodeURIComponent(words)}`)
  const first = page.locator('.md-search-result__item').first().locator('a').first()
  await first.waitFor()
  const found = (await first.getAttribute('href')).replace(home, '').replace(/[?#].*/, '')
  expect(found === right, `the first page for "${words}" is ${found}; want ${right}`)
}

const shown = page.locator('.md-version__current')
await shown.waitFor()
expect((await shown.innerText()).startsWith(home.split('/').at(-2) === 'latest' ? 'v' : 'next'), `the header says ${await shown.innerText()}`)
for (const path of ['architecture/', 'circuit/', 'api/', 'private/']) {
  await page.goto(home + path)
  expect(await page.locator('.diagram text').first().isVisible(), `${path} has no diagram`)
}

await page.goto(`${home}reference/`)
await page.getByPlaceholder('Search operations').fill('rotate secret')
await page.waitForFunction(() => document.querySelectorAll('.opblock').length < 6)
expect(await page.locator('#operations-endpoints-rotateSecret').isVisible(), 'the search of the reference leaves out what it should find')

await browser.close()
server.close()
console.log(`${pages.size} files, ${Object.keys(searches).length} searches`)
wrong.forEach((what) => console.log(what))
process.exit(wrong.length ? 1 : 0)
