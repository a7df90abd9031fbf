// Measures how soon a browser draws a page of a server, at its first visit and at the next; started by `make bench`.
// DRAWN is what there must be in it, CHOSEN what must be clickable then. Prints the milliseconds of each visit as JSON.
import { chromium } from '@playwright/test';

const {
  FOOTPLATE_URL: url,
  FOOTPLATE_ADMIN_PASSWORD: password,
  CHROMIUM: executablePath,
  VISITS,
  VISITED,
  DRAWN,
  CHOSEN,
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

/** In the page: say when what is waited for has been drawn. */
function noteDrawn(awaited) {
  const observer = new MutationObserver(() => {
    if (document.querySelector(awaited) === null) return;
    observer.disconnect();
    requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
  });
  let resolve;
  window.allDrawn = new Promise((done) => {
    resolve = done;
  });
  observer.observe(document, { childList: true, subtree: true });
}

/** From the address to the page: it is drawn, and can be used. */
async function visit(context) {
  const page = await context.newPage();
  await page.addInitScript(noteDrawn, DRAWN);
  await page.goto(`${url}${VISITED}`, { waitUntil: 'commit' });
  const took = await page.evaluate(() => window.allDrawn);
  if (CHOSEN) await page.locator(CHOSEN).first().click();
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
