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
});
