import { defineConfig } from '@playwright/test'

// The browser is Debian's, or Chromium; `make test/web` names its path.
export default defineConfig({
  testDir: 'tests',
  workers: 1,
  // A stack on an emulator is slower than one process.
  timeout: process.env.LOCAL_STACK ? 240_000 : 120_000,
  expect: { timeout: process.env.LOCAL_STACK ? 60_000 : 15_000 },
  reporter: 'list',
  use: {
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' },
    viewport: { width: 1320, height: 860 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    contextOptions: { reducedMotion: 'reduce' }, // no test waits for an animation
  },
  globalSetup: './tests/start.ts',
})
