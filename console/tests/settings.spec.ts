import { expect, expectAccessible, expectNoSideways, signIn, test } from './support/bench';

test('a setting is changed while the server runs, refused where it is no value, and given back', async ({
  page,
  api,
  expected,
}) => {
  expected.push(/422/);
  await signIn(page);
  await page.goto('/admin/settings');
  const row = page.getByRole('row', { name: /^trash_kept/ });
  await expect(row).toContainText('default');
  await row.getByRole('button', { name: 'Change trash_kept' }).click();
  const dialog = page.getByRole('dialog', { name: 'Change trash_kept' });
  await expect(dialog.getByText('How long deleted jobs can be restored')).toBeVisible();
  await dialog.getByLabel('Value').fill('soon');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog.locator('.ant-form-item-explain-error')).toBeVisible();
  await expectAccessible(page);
  await dialog.getByLabel('Value').fill('3h');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('trash_kept changed; it takes effect immediately')).toBeVisible();
  await expect(row).toContainText('3h');
  await expect(row).toContainText('console');
  expect((await api.call<{ trash_kept_s: number }>('GET', '/summary')).trash_kept_s).toBe(3 * 3600);
  await page.goto('/admin/audit');
  await expect(page.getByRole('row', { name: /changed setting trash_kept/ }).first()).toContainText(
    '1d → 3h',
  );
  await page.goto('/admin/settings');
  await row.getByRole('button', { name: 'Change trash_kept' }).click();
  await dialog.getByRole('button', { name: 'Back to the default' }).click();
  await expect(row).toContainText('default');
  expect((await api.call<{ trash_kept_s: number }>('GET', '/summary')).trash_kept_s).toBe(86_400);
});

test('what is said on the machine cannot be changed here', async ({ page }) => {
  await signIn(page);
  await page.goto('/admin/settings');
  await expect(page.getByRole('button', { name: 'Change idle_limit' })).toBeVisible();
  for (const name of ['host', 'port', 'storage_roots', 'limits'])
    await expect(page.getByRole('button', { name: `Change ${name}`, exact: true })).toBeHidden();
});

test.describe('on a phone, in Chinese and dark', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } });

  test('the dialog fits', async ({ page }) => {
    await signIn(page);
    await page.goto('/admin/settings');
    await page.getByRole('button', { name: '修改 idle_limit' }).click();
    await expect(page.getByRole('dialog', { name: '修改 idle_limit' })).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
  });
});
