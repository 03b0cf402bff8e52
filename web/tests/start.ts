import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

// Starts Surehook as `make dev` does, and stops it after the tests.
export default async function start() {
  const dev = spawn(resolve(process.env.DEV ?? '../bin/surehook'), ['dev', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SUREHOOK_PORTAL_NAME: 'Acme webhooks', SUREHOOK_PORTAL_ACCENT: '#0b7285', SUREHOOK_PORTAL_EMBEDDERS: 'http://localhost:3000' },
  })
  await introduced(dev)
  return async () => {
    dev.kill('SIGTERM')
    await once(dev, 'exit')
  }
}

async function introduced(dev: ChildProcess) {
  for await (const line of createInterface({ input: dev.stdout! })) {
    const said = /^\s*(API|KEY)=(\S+)$/.exec(line)
    if (said) process.env[`SUREHOOK_${said[1]}`] = said[2]
    if (said?.[1] === 'KEY') {
      dev.stdout!.resume()
      return
    }
  }
  throw new Error('Surehook did not start')
}
