import type { BrowserContext, Page } from '@playwright/test';
import { expect, fresh, signIn, test } from './support/bench';

const log = (page: Page) => page.getByRole('log');

/** More than the connections that a browser opens to one server. */
const N_PAGES = 8;

/** Many pages of one browser, all of them looked at, as on two screens. */
async function open(context: BrowserContext, path: string): Promise<Page[]> {
  const pages: Page[] = [];
  for (let n = 0; n < N_PAGES; n += 1) {
    const page = await context.newPage();
    await page.goto(path);
    pages.push(page);
  }
  return pages;
}

test('many windows with a live log all show it, and go on', async ({ page, context, api }) => {
  const gate = fresh('/tmp/footplate-gate');
  const job = await api.submit({
    name: fresh('watched'),
    command: `echo began; while [ ! -e ${gate} ]; do sleep 0.1; done; rm ${gate}; echo went on; sleep 600`,
  });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  const pages = await open(context, `/jobs/${job.id}?tab=logs`);
  for (const one of pages) await expect(log(one)).toContainText('began');
  await api.call('POST', `/jobs/${job.id}/exec`, {
    task: 'main-0',
    command: ['touch', gate],
    timeout_s: 10,
  });
  for (const one of pages) await expect(log(one)).toContainText('went on');
  await api.call('POST', `/jobs/${job.id}/stop`);
  for (const one of pages) await expect(one.getByText('Stopped', { exact: true }).first()).toBeVisible();
});

test('a page that nobody looks at lets its log go, and catches up', async ({ page, api }) => {
  const gate = fresh('/tmp/footplate-gate');
  const job = await api.submit({
    name: fresh('hidden'),
    command: `echo began; while [ ! -e ${gate} ]; do sleep 0.1; done; rm ${gate}; echo meanwhile; sleep 600`,
  });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('began');
  await turn(page, true);
  await api.call('POST', `/jobs/${job.id}/exec`, { task: 'main-0', command: ['touch', gate], timeout_s: 10 });
  await expect
    .poll(
      async () =>
        (await api.call<{ items: number[] }>('GET', `/jobs/${job.id}/logs/search?text=meanwhile`)).items,
    )
    .toHaveLength(1);
  await expect(log(page)).not.toContainText('meanwhile');
  await turn(page, false);
  await expect(log(page)).toContainText('meanwhile');
  await api.call('POST', `/jobs/${job.id}/stop`);
});

/** Browsers without a screen never hide a page by themselves. */
async function turn(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    Object.defineProperty(document, 'visibilityState', {
      configurable: true,
      get: () => (hidden ? 'hidden' : 'visible'),
    });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}
