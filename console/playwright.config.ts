import { defineConfig } from '@playwright/test';

// A list of our own replaces Playwright's: of that the three that matter here, and what draws the address bar's list,
// which no test looks at and which costs each page a process.
const OFF = ['MediaRouter', 'OptimizationHints', 'PaintHolding', 'WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'];

/** `tests/e2e/test_console.py` starts a server and says where it is. */
export default defineConfig({
  testDir: 'tests',
  outputDir: 'test-results',
  timeout: 45_000,
  expect: { timeout: 10_000 },
  workers: 1,
  forbidOnly: true,
  reporter: [['line']],
  use: {
    baseURL: process.env.FOOTPLATE_URL,
    locale: 'en-GB',
    viewport: { width: 1280, height: 800 },
    contextOptions: { reducedMotion: 'reduce' },
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: [
        '--headless',
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        `--disable-features=${OFF.join(',')}`,
      ],
    },
  },
});
