import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

test.beforeEach(({ page }) => signIn(page));

const points = (n: number, begin = 0, scale = 1) =>
  Array.from({ length: n }, (_, index) => ({
    step: begin + index,
    epoch: (begin + index) / 10,
    values: {
      'train/loss': scale / (begin + index + 1),
      'val/loss': (1.2 * scale) / (begin + index + 1),
      lr: 0.1,
    },
  }));

test('a curve moves without a reload, and the job says how far it is', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('curve'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await page.goto(`/jobs/${job.id}?tab=metrics`);
  await expect(page.getByText('No metrics yet')).toBeVisible();
  await api.call('POST', `/jobs/${job.id}/metrics`, { points: points(50), total_steps: 200 });
  const chart = page.getByRole('figure', { name: 'loss' });
  await expect(chart).toContainText('train/loss 0.02');
  await expect(chart).toContainText('val/loss 0.024');
  await expect(page.getByRole('figure', { name: 'lr' })).toBeVisible();
  await api.call('POST', `/jobs/${job.id}/metrics`, { points: points(50, 50) });
  await expect(chart).toContainText('train/loss 0.01');
  await expect(page.getByRole('progressbar').first()).toBeVisible();
  await expect(page.getByText('step 99 of 200')).toBeVisible();
  await page.getByText('Epochs', { exact: true }).click();
  await page.getByRole('switch', { name: 'Log scale' }).click();
  await expectAccessible(page);
  await expectNoSideways(page);

  const over = chart.locator('.u-over');
  const box = await over.boundingBox();
  if (!box) throw new Error('nothing is drawn');
  // The values at the place that is pointed at, and the last ones again once nobody points.
  await page.mouse.move(box.x + 1, box.y + 50);
  await expect(chart).toContainText('epoch 0');
  await expect(chart).toContainText('train/loss 1');
  await page.mouse.move(0, 0);
  await expect(chart).toContainText('train/loss 0.01');
  await page.mouse.move(box.x + 50, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 150, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await expect(page.getByRole('button', { name: 'Show all' })).toBeVisible();
  await over.dblclick();
  await expect(page.getByRole('button', { name: 'Show all' })).toHaveCount(0);

  const picture = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download loss as PNG' }).click();
  expect((await picture).suggestedFilename()).toBe('loss.png');
  const table = page.waitForEvent('download');
  await page.getByRole('button', { name: 'CSV' }).click();
  expect((await table).suggestedFilename()).toBe(`${job.name}-metrics.csv`);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('curves of several tasks and attempts are told apart, and one fills the screen', async ({
  page,
  api,
}) => {
  const job = await api.submit({
    name: fresh('gang'),
    command: '[ $FOOTPLATE_ATTEMPT = 1 ] || exit 1; sleep 600',
    count: 2,
    retry: 1,
  });
  await expect
    .poll(async () => (await api.call<{ attempt: number }>('GET', `/jobs/${job.id}`)).attempt)
    .toBe(1);
  for (const attempt of [0, 1])
    for (const task of ['main-0', 'main-1'])
      await api.call('POST', `/jobs/${job.id}/metrics`, { points: points(10), task, attempt });
  await page.goto(`/jobs/${job.id}?tab=metrics`);
  const chart = page.getByRole('figure', { name: 'loss' });
  for (const task of ['main-0', 'main-1']) await expect(chart).toContainText(`train/loss · ${task}`);
  await page.getByRole('combobox', { name: 'Tasks' }).fill('main-1');
  await page.keyboard.press('Enter');
  await expect(chart).not.toContainText('main-0');
  await page.getByRole('combobox', { name: 'Attempts' }).click();
  for (const name of ['Attempt 1', 'Attempt 2']) await page.getByTitle(name, { exact: true }).last().click();
  await expect(chart).toContainText('train/loss · #1');
  await expect(chart).toContainText('train/loss · #2');
  await page.keyboard.press('Escape');
  const before = (await chart.locator('canvas').boundingBox())?.height ?? 0;
  await page.getByRole('button', { name: 'Show loss in full screen' }).click();
  await expect
    .poll(async () => (await chart.locator('canvas').boundingBox())?.height ?? 0)
    .toBeGreaterThan(before);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('jobs that are chosen in the list are compared', async ({ page, api }) => {
  const stem = fresh('compared');
  const jobs = [];
  for (const lr of [0.1, 0.01]) {
    const fields = { name: `${stem}-${lr}`, command: 'true', parameters: { lr, epochs: 3 } };
    const job = await api.finished(fields);
    await api.call('POST', `/jobs/${job.id}/metrics`, { points: points(20, 0, lr) });
    jobs.push(job);
  }
  await page.goto(`/jobs?search=${stem}`);
  for (const { name } of jobs) await page.getByRole('checkbox', { name: `Select ${name}` }).click();
  await page.getByRole('link', { name: 'Compare', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Compare jobs' })).toBeVisible();
  await expect(page.getByRole('row', { name: /^lr/ })).toHaveAttribute('data-differs', 'true');
  await expect(page.getByRole('row', { name: /^epochs/ })).toHaveAttribute('data-differs', 'false');
  const chart = page.getByRole('figure', { name: 'loss' });
  for (const { name } of jobs) await expect(chart).toContainText(`train/loss · ${name}`);
  const rows = page.getByRole('table').first().getByRole('row');
  await page.getByRole('button', { name: 'train/loss' }).click();
  await expect(rows.nth(1)).toContainText(`${stem}-0.01`);
  await page.getByRole('button', { name: 'train/loss' }).click();
  await expect(rows.nth(1)).toContainText(`${stem}-0.1`);
  await expectAccessible(page);

  await page.goto(`/jobs?search=${stem}`);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'Metric' }).check();
  await page.keyboard.press('Escape');
  const choice = page.getByRole('combobox', { name: 'Metric' });
  const cell = (name: string) => page.getByRole('row').filter({ hasText: name }).locator('td.number').last();
  for (const [metric, values] of [
    ['train/loss', ['0.005', '0.0005']],
    ['val/loss', ['0.006', '0.0006']],
  ] as const) {
    await choice.click();
    await page.getByTitle(metric, { exact: true }).last().click();
    for (const [index, { name }] of jobs.entries()) await expect(cell(name)).toHaveText(values[index] ?? '');
  }
});
