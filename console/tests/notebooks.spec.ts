import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

test.beforeEach(({ page }) => signIn(page));

test('a notebook is started from the form, shown with its state, and stopped', async ({
  page,
  api,
  expected,
}) => {
  expected.push(/422/);
  const name = fresh('lab');
  await page.goto('/');
  await page.getByRole('link', { name: 'Notebooks' }).click();
  await expect(page.getByRole('table', { name: 'Samples' })).toContainText('two workers average');
  await page.getByRole('button', { name: 'New notebook' }).first().click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('CPUs').fill('0.1');
  await form.getByLabel('Memory').fill('much');
  await form.getByRole('button', { name: 'Start' }).click();
  await expect(form.getByText(/must be a size|is not a size|much/).last()).toBeVisible();
  await form.getByLabel('Memory').fill('256MB');
  await expectAccessible(page);
  await form.getByRole('button', { name: 'Start' }).click();
  await expect(page.getByText(`Notebook ${name} is in the queue`)).toBeVisible();
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row.getByRole('button', { name: `Open ${name}` })).toBeEnabled();
  const found = (await api.call('GET', `/jobs?search=${name}`)) as { items: { id: string }[] };
  const id = found.items[0]?.id ?? '';
  const config = (await api.call('GET', `/jobs/${id}/config`)) as { services: unknown };
  expect(config.services).toEqual([{ kind: 'jupyter', path: 'notebooks' }]);
  expect(JSON.stringify(config)).toContain('first-steps.ipynb');
  await row.getByRole('button', { name: `Stop ${name}` }).click();
  await api.until(id, 'STOPPED');
  await expect(row.getByRole('button')).toHaveCount(0);
});

test.describe('dark, in Chinese, on a phone', () => {
  test.use({ colorScheme: 'dark', locale: 'zh-CN', viewport: { width: 390, height: 844 } });
  test('the page and its form fit', async ({ page }) => {
    await page.goto('/notebooks');
    await expect(page.getByText('入门')).toBeVisible();
    await expectNoSideways(page);
    await expectAccessible(page);
    await page.getByRole('button', { name: '新建笔记本' }).first().click();
    await expect(page.getByRole('dialog')).toBeVisible();
    await expectNoSideways(page);
  });
});
