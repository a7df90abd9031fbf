import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

interface Node {
  cpus: number;
}

test('the queue says who is next, why and until when, and priorities change places', async ({
  page,
  api,
}) => {
  const { items } = await api.call<{ items: Node[] }>('GET', '/nodes');
  const cpus = (items[0]?.cpus ?? 0) - 0.5;
  const holder = await api.submit({ name: fresh('holds'), command: 'sleep 600', cpus, time_limit: '20m' });
  await api.until(holder.id, 'RUNNING');
  const first = await api.submit({ name: fresh('first'), command: 'true', cpus, time_limit: '5m' });
  const second = await api.submit({ name: fresh('second'), command: 'true', cpus, time_limit: '5m' });
  await signIn(page);
  await page.goto('/');
  await page.getByRole('link', { name: /Waiting jobs$/ }).click();
  const names = page.getByRole('table').getByRole('link');
  await expect(names).toHaveText([first.name, second.name]);
  const row = page.getByRole('row').filter({ hasText: first.name });
  await expect(row).toContainText('Waiting for resources');
  await expect(row).toContainText('0.5 of');
  await expect(row).toContainText(/in \d+ min/);
  const priority = page.getByLabel(`Priority of ${second.name}`);
  await priority.fill('2000');
  await expect(priority).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByRole('alert')).toHaveText('A whole number from -1000 to 1000');
  await priority.blur();
  await expect(priority).toHaveValue('2000');
  await priority.fill('10');
  await priority.press('Enter');
  await expect(names).toHaveText([second.name, first.name]);
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  const line = page.getByRole('list', { name: 'Who starts next' });
  await expect(line).toBeVisible();
  // Colours fade from light to dark; one halfway there is nobody's.
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  await expectAccessible(page);
  await expectNoSideways(page);
  await api.call('POST', `/jobs/${second.id}/stop`);
  await expect(line).toContainText(first.name);
  await expect(line).not.toContainText(second.name);
  await api.call('POST', `/jobs/${holder.id}/stop`);
  await api.until(first.id, 'SUCCEEDED');
  await expect(page.getByText('No queued jobs')).toBeVisible();
});

test('a drained node is told with who drained it, and nobody is next', async ({ page, api }) => {
  const { items } = await api.call<{ items: { name: string }[] }>('GET', '/nodes');
  const node = items[0]?.name ?? '';
  await api.call('PATCH', `/nodes/${node}`, { is_schedulable: false });
  const jobs = [];
  for (const stem of ['one', 'two']) jobs.push(await api.submit({ name: fresh(stem), command: 'true' }));
  await signIn(page);
  await page.goto('/queue');
  for (const job of jobs) {
    const row = page.getByRole('row').filter({ hasText: job.name });
    await expect(row).toContainText(`no node is in service: admin drained ${node}`);
    await expect(row).not.toContainText('next in line');
  }
  await page.goto('/admin/nodes');
  await expect(page.getByText('drained by admin')).toBeVisible();
  await api.call('PATCH', `/nodes/${node}`, { is_schedulable: true });
  for (const job of jobs) await api.until(job.id, 'SUCCEEDED');
});

test('the queue of one queue is a link', async ({ page, api }) => {
  const queue = fresh('line');
  await api.call('POST', '/queues', { name: queue, is_open: true });
  await signIn(page);
  await page.goto(`/queue?queue=${queue}`);
  await expect(page.getByText('No queued jobs')).toBeVisible();
  await expect(page.getByTitle(queue)).toBeVisible();
});

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test('a start that is not known yet is one line', async ({ page, api }) => {
    const holder = await api.submit({ name: fresh('endless'), command: 'sleep 600', gpus: 4 });
    await api.until(holder.id, 'RUNNING');
    const waits = await api.submit({ name: fresh('waits'), command: 'true', gpus: 4 });
    await signIn(page);
    await page.goto('/queue');
    const unknown = page.getByText('尚不确定');
    await expect(unknown).toBeVisible();
    expect((await unknown.boundingBox())?.height).toBeLessThan(30);
    for (const { id } of [waits, holder]) await api.call('POST', `/jobs/${id}/stop`);
  });
});
