import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

test.beforeEach(({ page }) => signIn(page));

test('what runs, what waits and why, and who holds which card', async ({ page, api }) => {
  const running = await api.submit({ name: fresh('holds'), command: 'sleep 120', gpus: 3 });
  await api.until(running.id, 'RUNNING');
  const waiting = await api.submit({ name: fresh('waits'), command: 'true', gpus: 2 });
  await page.goto('/');
  const now = page.locator('section', { hasText: 'Running now' }).last();
  await expect(now.getByRole('link', { name: running.name })).toBeVisible();
  const line = page.getByRole('listitem').filter({ hasText: waiting.name }).first();
  await expect(line).toContainText('Waiting for resources');
  await expect(page.getByRole('meter', { name: 'GPUs' }).first()).toHaveAttribute('aria-valuenow', '3');
  await expect(page.getByRole('link', { name: `GPU 0, A100: used by job ${running.name}` })).toBeVisible();
  await expect(page.getByRole('img', { name: 'GPU 3, A100: free' })).toBeVisible();

  await api.call('POST', `/jobs/${running.id}/stop`);
  await expect(line).toContainText(/Running|Succeeded/);
  await api.until(waiting.id, 'SUCCEEDED');
  await expect(page.getByRole('meter', { name: 'GPUs' }).first()).toHaveAttribute('aria-valuenow', '0');
});

test('the counts lead to the jobs behind them', async ({ page, api }) => {
  const failed = await api.finished({ name: fresh('fails'), command: 'exit 2' });
  await page.goto('/');
  await page.getByRole('link', { name: /Failed today/ }).click();
  await expect(page).toHaveURL(/state=FAILED/);
  await expect(page.getByRole('link', { name: failed.name })).toBeVisible();
});

test('somebody new sees an empty state and only what is theirs', async ({ page, api, expected }) => {
  expected.push(/404/);
  const hidden = await api.finished({ name: fresh('hidden'), command: 'true' });
  const user = fresh('newcomer');
  await api.call('POST', '/queues', { name: user });
  await api.call('POST', '/users', {
    name: user,
    password: 'a long enough password',
    queues: { [user]: 'member' },
  });
  await signIn(page, user, 'a long enough password');
  await page.goto('/');
  await expect(page.getByText('You have no jobs yet')).toBeVisible();
  await page.goto('/jobs');
  await expect(page.getByText('No jobs yet')).toBeVisible();
  await page.goto(`/jobs/${hidden.id}`);
  await expect(page.getByText('This job does not exist, or you may not see it')).toBeVisible();
});

for (const [scheme, locale] of [
  ['light', 'en-GB'],
  ['dark', 'zh-CN'],
] as const) {
  test.describe(`${scheme}, ${locale}`, () => {
    test.use({ colorScheme: scheme, locale });
    test('the dashboard is accessible and fits', async ({ page }) => {
      await page.goto('/');
      await expect(page.getByText('bench', { exact: true })).toBeVisible();
      await expectAccessible(page);
      await page.setViewportSize({ width: 390, height: 844 });
      await expectNoSideways(page);
      await expectAccessible(page);
    });
  });
}
