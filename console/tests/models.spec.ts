import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

const WRITES = 'echo weights > $FOOTPLATE_OUTPUT_DIR/model.bin';

test('a finished job is registered as a model, named, compared, deleted and restored', async ({
  page,
  api,
}) => {
  const job = await api.finished({ name: fresh('trained'), command: WRITES, parameters: { lr: 0.1 } });
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Register as model' }).click();
  const dialog = page.getByRole('dialog', { name: `Register ${job.name} as a model` });
  await dialog.getByRole('textbox', { name: 'Path' }).fill('model.bin');
  await dialog.getByRole('textbox', { name: 'Description' }).fill('first try');
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(page.getByText(`Registered version 1 of ${job.name}.`)).toBeVisible();
  await api.call('POST', '/models', {
    name: job.name,
    job: { job: job.id, path: 'model.bin' },
    metrics: { accuracy: 0.98 },
  });

  await page.getByRole('navigation').getByRole('link', { name: 'Models' }).click();
  await expectAccessible(page);
  await page.getByRole('link', { name: job.name }).first().click();
  await expect(page.getByRole('heading', { name: job.name })).toBeVisible();
  await page.getByRole('button', { name: 'Set alias of version 1' }).click();
  await page.getByRole('textbox', { name: 'Alias' }).fill('production');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('production is version 1 now.')).toBeVisible();
  const compared = page.getByRole('table', { name: 'Compare versions' });
  await expect(compared.getByRole('row', { name: /accuracy metric – 0.98/ })).toBeVisible();
  await expectAccessible(page);
  await expectNoSideways(page);

  await page.getByRole('table', { name: 'Versions' }).getByRole('link', { name: '1', exact: true }).click();
  await expect(page.getByRole('heading', { name: `${job.name}, version 1` })).toBeVisible();
  await expect(page.getByRole('row', { name: /model.bin/ })).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download model.bin' }).click();
  expect((await saved).suggestedFilename()).toBe('model.bin');
  await expectAccessible(page);

  await api.call('DELETE', `/models/${job.name}`);
  await page.goto('/models?trash=true');
  const row = page.getByRole('row').filter({ hasText: job.name });
  await row.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText(`Restored ${job.name}.`)).toBeVisible();
});

test.describe('in Chinese, dark, on a phone', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } });

  test('models, usage and cost fit', async ({ page, api }) => {
    const job = await api.finished({ name: fresh('small'), command: WRITES });
    await api.call('POST', '/models', { name: job.name, job: { job: job.id } });
    await signIn(page);
    await page.goto('/models');
    await expect(page.getByRole('heading', { name: '模型' })).toBeVisible();
    await expect(page.getByText(job.name)).toBeVisible();
    await expectNoSideways(page);
    await expectAccessible(page);
    await page.goto('/usage');
    await expect(page.getByRole('heading', { name: '用量与费用' })).toBeVisible();
    await expectNoSideways(page);
    await expectAccessible(page);
  });
});

test('usage is shown by job, user, queue and tag, with the space on the disk', async ({ page, api }) => {
  const job = await api.finished({ name: fresh('used'), command: 'sleep 0.2' });
  await signIn(page);
  await page.goto('/usage?by=queue&days=7');
  const report = page.getByRole('table', { name: 'Usage and cost' });
  await expect(report.getByRole('row', { name: /default/ })).toBeVisible();
  await expect(report.getByRole('row', { name: /Total/ })).toBeVisible();
  await expect(page.getByRole('table', { name: 'Space on the disk' })).toBeVisible();
  await expectAccessible(page);
  await expectNoSideways(page);
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText(/CPU hours/)).toBeVisible();
});
