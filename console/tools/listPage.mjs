// Measures how soon the job list of a server can be used in a browser that has never seen it;
// started by `make bench`. Prints the milliseconds of each visit as JSON.
import { chromium } from '@playwright/test';

const {
  FOOTPLATE_URL: url,
  FOOTPLATE_ADMIN_PASSWORD: password,
  CHROMIUM: executablePath,
  VISITS,
} = process.env;

/** What a browser keeps of somebody who is signed in. */
async function signIn(browser) {
  const context = await browser.newContext();
  const answer = await context.request.post(`${url}/api/v1/session`, { data: { user: 'admin', password } });
  if (!answer.ok()) throw new Error(await answer.text());
  const { key } = await answer.json();
  const { cookies } = await context.storageState();
  await context.close();
  return { cookies, origins: [{ origin: url, localStorage: [{ name: 'footplate.key', value: key }] }] };
}

/** From the address to a list that has taken a press: its rows are there, and one of them is chosen. */
async function visit(browser, storageState) {
  const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const began = performance.now();
  await page.goto(`${url}/jobs`, { waitUntil: 'commit' });
  await page.locator('tbody tr').nth(1).getByRole('checkbox').check();
  const took = performance.now() - began;
  await context.close();
  return took;
}

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const signedIn = await signIn(browser);
const times = [];
for (let n = 0; n < Number(VISITS); n++) times.push(await visit(browser, signedIn));
await browser.close();
process.stdout.write(JSON.stringify(times));
