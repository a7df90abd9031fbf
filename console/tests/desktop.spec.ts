import type { Page } from '@playwright/test';
import { Api, expect, fresh, signIn, test } from './support/bench';

/** How many colours a desktop shows; 0 while there is none. */
const colours = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('#screen canvas');
    const drawn = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(drawn ? new Uint32Array(drawn.buffer) : []).size;
  });

test('the desktop of a task shows a window, takes keys, and lets nobody else in', async ({
  page,
  context,
  browser,
  api,
  expected,
}) => {
  expected.push(/403/);
  // It goes on when its desktop is closed.
  const command =
    'until [ -e go ]; do sleep 0.1; done; DISPLAY=:1 xeyes -geometry 300x200+50+50 || sleep 600';
  const job = await api.submit({ name: fresh('screen'), command, cpus: 1, memory: '512MB' });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=exec`);
  const coming = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Desktop', exact: true }).click();
  const desktop = await coming;
  await expect(desktop.locator('#screen[data-state=connected] canvas')).toBeVisible();
  await expect(desktop).toHaveTitle(`${job.name} main-0`);
  // At a name of its own, which is another origin than that of the console and of other services.
  expect(new URL(desktop.url()).hostname).toMatch(/^s-[0-9a-f]{20}\.localhost$/);
  await expect.poll(() => colours(desktop)).toBeGreaterThan(0);
  const before = await desktop.locator('canvas').screenshot();
  await api.call('POST', `/jobs/${job.id}/exec`, { command: ['touch', 'go'] });
  await expect.poll(async () => (await desktop.locator('canvas').screenshot()).equals(before)).toBe(false);
  await expect.poll(() => colours(desktop)).toBeGreaterThan(2);

  await expect(page.getByRole('list', { name: 'Open now' })).toContainText('Desktop');
  const stranger = await (await browser.newContext()).newPage();
  await stranger.goto(desktop.url());
  await expect(stranger.getByText('is not open here')).toBeVisible();
  await stranger.context().close();
  const name = fresh('eve');
  await api.call('POST', '/users', {
    name,
    password: 'a long enough password',
    queues: { default: 'member' },
  });
  const eve = await Api.signIn(process.env.FOOTPLATE_URL ?? '', name, 'a long enough password');
  const asked = eve.call('POST', `/jobs/${job.id}/services`, { service: 'desktop' });
  await expect(asked).rejects.toThrow(/403/);
  const { items } = await api.call<{ items: { action: string; actor: string }[] }>(
    'GET',
    `/audit?subject=${job.id}`,
  );
  expect(items.map(({ action, actor }) => `${actor} ${action}`)).toContain(`${name} job.entry_refused`);

  await page.getByRole('button', { name: 'Stop desktop' }).click();
  await expect(desktop.getByText('The desktop is closed')).toBeVisible();
  await api.call('POST', `/jobs/${job.id}/stop`);
});
