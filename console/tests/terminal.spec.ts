import { existsSync, writeFileSync } from 'node:fs';
import { expect, fresh, signIn, test } from './support/bench';

test('a terminal runs what is typed, follows the size of the window, and ends', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('entered'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=exec`);
  await page.getByRole('button', { name: 'Open terminal' }).click();
  const screen = page.getByRole('region', { name: 'Terminal in main-0' });
  await expect(screen).toContainText(/[#$]/);
  await page.keyboard.type('echo $((6 * 7)) $FOOTPLATE_ROLE\n');
  await expect(screen).toContainText('42 main');
  await page.keyboard.type('tput cols; stty size\n');
  const rows = screen.locator('.xterm-rows > div');
  const sizes = async () => {
    const found = (await rows.allTextContents()).map((row) => /^\d+ (\d+)\s*$/.exec(row));
    return found.flatMap((one) => (one ? [Number(one[1])] : []));
  };
  await expect.poll(async () => (await sizes()).length).toBe(1);
  await page.setViewportSize({ width: 800, height: 700 });
  await page.keyboard.type('stty size\n');
  await expect.poll(async () => (await sizes()).length).toBe(2);
  const [before = 0, after = 0] = await sizes();
  expect(after).toBeLessThan(before);
  await page.keyboard.type('exit 3\n');
  await expect(screen).toContainText('the shell ended with exit code 3');
  await expect(page.getByRole('button', { name: 'Open terminal' })).toBeVisible();
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('a terminal comes back after a restart of the server, and says that it is a new one', async ({
  page,
  api,
  expected,
}) => {
  expected.push(/./);
  const job = await api.submit({ name: fresh('entered'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=exec`);
  await page.getByRole('button', { name: 'Open terminal' }).click();
  const screen = page.getByRole('region', { name: 'Terminal in main-0' });
  await expect(screen).toContainText(/[#$]/);
  await page.keyboard.type('echo be"fore"\n');
  await expect(screen).toContainText('before');
  const wish = `${process.env.FOOTPLATE_TEST_HOME}/restart-please`;
  writeFileSync(wish, '');
  await expect(screen).toContainText('connection lost');
  await expect.poll(() => existsSync(wish), { timeout: 40_000 }).toBe(false);
  await expect(screen).toContainText('this is a new one', { timeout: 20_000 });
  await page.keyboard.type('echo af"ter"\n');
  await expect(screen).toContainText('after');
  await api.call('POST', `/jobs/${job.id}/stop`);
});
