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

test('the last 24 hours are drawn and told in words', async ({ page, api }) => {
  await api.finished({ name: fresh('counted'), command: 'sleep 1', gpus: 4 });
  await page.goto('/');
  const drawn = page.getByRole('img', {
    name: /^GPUs that jobs held in the last 24 hours: (\d+|<1)% on average/,
  });
  await expect(drawn).toBeVisible();
  await expect(drawn.locator('path')).toHaveAttribute('d', /^M/);
  await expect(page.getByRole('img', { name: /^CPUs that jobs held/ })).toBeVisible();
  await expectAccessible(page);
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

test('a node has a page: charts of its use, its cards and tasks, and who drained it', async ({
  page,
  api,
}) => {
  const running = await api.submit({ name: fresh('there'), command: 'sleep 120', gpus: 1 });
  await api.until(running.id, 'RUNNING');
  await page.goto('/');
  await page.getByRole('link', { name: 'bench', exact: true }).click();
  await expect(page).toHaveURL(/\/nodes\/bench$/);
  const tasks = page.getByRole('table', { name: 'Tasks' });
  await expect(tasks.getByRole('row', { name: new RegExp(running.name) })).toContainText('main-0');
  await expect(page.getByRole('table', { name: 'Cards' })).toContainText(running.name);
  await expect(page.getByRole('figure').filter({ hasText: 'CPU' })).toContainText(/used \d.*total/);
  await api.call('PATCH', '/nodes/bench', { is_schedulable: false });
  await expect(page.getByText('drained by admin')).toBeVisible();
  await api.call('PATCH', '/nodes/bench', { is_schedulable: true });
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSideways(page);
  await api.call('POST', `/jobs/${running.id}/stop`);
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
