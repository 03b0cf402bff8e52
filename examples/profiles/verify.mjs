// Verifies requests of Surehook with the libraries of the vendors. The requests are those
// of the test of Surehook's signatures.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { verify as verifyGitHub } from '@octokit/webhooks-methods'
import { shopifyApi } from '@shopify/shopify-api'
import '@shopify/shopify-api/adapters/node'
import Stripe from 'stripe'
import { Webhook } from 'svix'
import { createRequire } from 'node:module'

// Not among the exports of the package: its receivers call it.
const { verifySlackRequest } = createRequire(import.meta.url)('@slack/bolt/dist/receivers/verify-request.js')

const requests = JSON.parse(readFileSync(new URL('../../internal/rule/sign/testdata/profiles.json', import.meta.url)))

/** The text that a receiver keeps: without the mark of a secret from another system. */
const textOf = (secret) => secret.replace(/^text:/, '')

const lower = (headers) => Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Throws unless the vendor's library accepts the request. */
const verify = {
  async classic(r, secret) {
    const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : textOf(secret)
    assert.equal(r.headers['X-Webhook-Signature'], `sha256=${createHmac('sha256', key).update(r.body).digest('hex')}`)
  },
  async github(r, secret) {
    assert.ok(await verifyGitHub(textOf(secret), r.body, r.headers['X-Hub-Signature-256']))
  },
  async shopify(r, secret) {
    const shopify = shopifyApi({
      apiKey: 'key', apiSecretKey: textOf(secret), hostName: 'example.com', apiVersion: '2026-01', isEmbeddedApp: false, logger: { level: 0 },
    })
    const headers = { ...r.headers, 'X-Shopify-API-Version': '2026-01', 'X-Shopify-Shop-Domain': 'example.myshopify.com' }
    const answer = await shopify.webhooks.validate({ rawBody: r.body, rawRequest: { method: 'POST', url: r.url, headers: lower(headers) } })
    assert.ok(answer.valid, JSON.stringify(answer))
    assert.equal(answer.topic, 'ORDER_PAID') // as the library writes order.paid
  },
  async slack(r, secret) {
    verifySlackRequest({
      signingSecret: textOf(secret), body: r.body, nowMilliseconds: r.time * 1000,
      headers: { 'x-slack-signature': r.headers['X-Slack-Signature'], 'x-slack-request-timestamp': Number(r.headers['X-Slack-Request-Timestamp']) },
    })
  },
  async stripe(r, secret) {
    new Stripe('sk_test_1').webhooks.constructEvent(r.body, r.headers['Stripe-Signature'], textOf(secret), 300, undefined, r.time * 1000)
  },
  async svix(r, secret) {
    const { Date } = globalThis // the library has no parameter for the time
    globalThis.Date = class extends Date { constructor(...given) { super(...(given.length ? given : [r.time * 1000])) } static now() { return r.time * 1000 } }
    try {
      new Webhook(secret).verify(r.body, lower(r.headers))
    } finally {
      globalThis.Date = Date
    }
  },
}

const rotates = new Set(['stripe', 'svix']) // a signature for each secret

for (const r of requests) {
  const secrets = rotates.has(r.profile) ? r.secrets : r.secrets.slice(0, 1)
  for (const secret of secrets) {
    if (r.profile === 'svix' && !secret.startsWith('whsec_')) continue // its library takes base64 only
    test(`${r.profile} accepts ${secret}, of ${r.secrets.length}`, () => verify[r.profile](r, secret))
    test(`${r.profile} refuses another body than that of ${secret}, of ${r.secrets.length}`, () =>
      assert.rejects(verify[r.profile]({ ...r, body: `${r.body} ` }, secret)))
  }
}

test('every profile is here', () => {
  assert.deepEqual([...new Set(requests.map((r) => r.profile))].sort(), Object.keys(verify).sort())
})
