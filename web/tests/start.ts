import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

// A green square.
const logo = `data:image/svg+xml;base64,${Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><rect width="24" height="24" rx="6" fill="#2b8a3e"/></svg>').toString('base64')}`

// Starts Surehook as `make dev` does, and stops it after the tests. With SUREHOOK_API and
// SUREHOOK_KEY the tests use a stack that runs already, with SUREHOOK_PORTAL_EMBEDDERS as deployed.
export default async function start() {
  if (process.env.SUREHOOK_API) return
  process.env.SUREHOOK_PORTAL_EMBEDDERS ??= `http://localhost:${await freePort()}`
  const { dev, api, key } = await startDev({ SUREHOOK_PORTAL_NAME: 'Acme webhooks', SUREHOOK_PORTAL_ACCENT: '#0b7285', SUREHOOK_PORTAL_LOGO: process.env.SUREHOOK_PORTAL_LOGO ?? logo })
  process.env.SUREHOOK_API = api
  process.env.SUREHOOK_KEY = key
  return async () => {
    dev.kill('SIGTERM')
    await once(dev, 'exit')
  }
}

/** Starts a Surehook with the settings. */
export async function startDev(settings: Record<string, string>, ...args: string[]): Promise<{ dev: ChildProcess; api: string; key: string }> {
  const dev = spawn(resolve(process.env.DEV ?? '../bin/surehook'), ['dev', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...settings },
  })
  let api = ''
  for await (const line of createInterface({ input: dev.stdout! })) {
    const said = /^\s*(API|KEY)=(\S+)$/.exec(line)
    if (said?.[1] === 'API') api = said[2]!
    if (said?.[1] === 'KEY') {
      dev.stdout!.resume()
      return { dev, api, key: said[2]! }
    }
  }
  throw new Error('Surehook did not start')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
