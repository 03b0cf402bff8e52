import { defineConfig } from '@playwright/test'

// The browser is Debian's; `make test/web` names its path.
export default defineConfig({
  testDir: 'tests',
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: 'list',
  use: {
    launchOptions: { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' },
    viewport: { width: 1320, height: 860 },
    locale: 'en-GB',
    timezoneId: 'UTC',
  },
  globalSetup: './tests/start.ts',
})
