// Measures how soon a browser draws the job list of a server, at its first visit and at the next;
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

/** In the page: say when its first rows have been drawn, boxes to choose them by included. */
function noteRows() {
  const observer = new MutationObserver(() => {
    if (document.querySelector('tbody tr:nth-child(2) input') === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  });
  let resolve;
  window.rowsDrawn = new Promise((done) => {
    resolve = done;
  });
  observer.observe(document, { childList: true, subtree: true });
}

/** From the address to the list: its rows are drawn, and one of them can be chosen. */
async function visit(context) {
  const page = await context.newPage();
  await page.addInitScript(noteRows);
  await page.goto(`${url}/jobs`, { waitUntil: 'commit' });
  const took = await page.evaluate(() => window.rowsDrawn);
  const box = page.locator('tbody tr').nth(1).getByRole('checkbox');
  await box.check();
  await page.close();
  return took;
}

async function visits(browser, storageState) {
  const found = { first: [], again: [] };
  for (let n = 0; n < Number(VISITS); n++) {
    const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
    found.first.push(await visit(context));
    found.again.push(await visit(context));
    await context.close();
  }
  return found;
}

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu'],
});
const found = await visits(browser, await signIn(browser));
await browser.close();
process.stdout.write(JSON.stringify(found));
