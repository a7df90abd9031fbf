import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

const BUCKET = process.env.FOOTPLATE_TEST_BUCKET ?? '';

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) });

const choose = async (page: Page, field: string, option: string) => {
  await page.getByRole('dialog').getByRole('combobox', { name: field }).click();
  await page.getByTitle(option, { exact: true }).last().click();
};

test('a bucket is added, checked, used, edited and removed', async ({ page, api }) => {
  test.skip(BUCKET === '', 'needs a bucket: pip install moto');
  const name = fresh('lake');
  const { origin, pathname } = new URL(BUCKET);
  await signIn(page);
  await page.goto('/admin/storages');
  await page.getByRole('button', { name: 'Add storage' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(name);
  await choose(page, 'Kind', 'S3 bucket');
  await dialog.getByLabel('Address').fill(origin);
  await dialog.getByLabel('Bucket', { exact: true }).fill(pathname.slice(1));
  await dialog.getByLabel('Prefix').fill(`${name}/`);
  await dialog.getByLabel('Access key ID').fill('AKIATEST');
  await dialog.getByLabel('Secret access key').fill('a secret key');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Add storage' }).click();
  await expect(page.getByText(`Storage ${name} saved`)).toBeVisible();
  await expect(row(page, name)).toContainText('credentials stored');
  await page.getByRole('button', { name: `Check storage ${name}` }).click();
  await expect(page.getByText(`Storage ${name} answers`)).toBeVisible();
  await expectAccessible(page);

  await page.getByRole('link', { name: `Browse storage ${name}` }).click();
  await expect(page.getByText('This folder is empty')).toBeVisible();
  await page
    .getByLabel('Files…', { exact: true })
    .setInputFiles([{ name: 'in-the-lake.txt', mimeType: 'text/plain', buffer: Buffer.from('cold') }]);
  await page.getByRole('link', { name: 'in-the-lake.txt' }).click();
  await expect(page.getByRole('dialog').getByText('cold')).toBeVisible();

  await page.goto('/admin/storages');
  await page.getByRole('button', { name: `Edit storage ${name}` }).click();
  await dialog.getByLabel('Nobody may write').click();
  await dialog.getByLabel('Quota (GB)').fill('2');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(row(page, name)).toContainText('read-only');
  await expect(row(page, name)).toContainText('2 GB');
  await expect(row(page, name)).toContainText('credentials stored');
  const stored = await api.call<Record<string, unknown>>('GET', `/storages/${name}`);
  expect(stored).toMatchObject({ read_only: true, quota_bytes: 2 * 1024 ** 3, is_private: true });
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText(`Storage ${name} removed`)).toBeVisible();
  await expect(row(page, name)).toBeHidden();
});

test('what the server has against a storage is told at its field', async ({ page, expected }) => {
  expected.push(/422/);
  await signIn(page);
  await page.goto('/admin/storages');
  await page.getByRole('button', { name: 'Add storage' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(fresh('etc'));
  await dialog.getByLabel('Path on the server').fill('/etc');
  await dialog.getByRole('button', { name: 'Add storage' }).click();
  await expect(dialog.locator('.ant-form-item-explain-error')).toContainText(/\/srv|storage_roots/);
  await expect(row(page, 'etc')).toBeHidden();
});

test('a storage that does not answer says so when it is checked', async ({ page, api, expected }) => {
  expected.push(/50[0-9]|409/);
  const name = fresh('gone');
  const endpoint = 'http://127.0.0.1:9';
  await api.call('POST', '/storages', { name, kind: 'http', endpoint });
  await signIn(page);
  await page.goto('/admin/storages');
  await page.getByRole('button', { name: `Check storage ${name}` }).click();
  await expect(page.getByText('The storage does not answer')).toBeVisible();
  await api.call('DELETE', `/storages/${name}`);
});

test('members neither see the page nor where storages lie', async ({ page, api }) => {
  const name = fresh('member');
  await api.call('POST', '/users', { name, password: 'a long password', queues: { default: 'member' } });
  await signIn(page, name, 'a long password');
  await page.goto('/admin/storages');
  await expect(page.getByText('home', { exact: true })).toBeHidden();
  await expect(page.getByRole('link', { name: 'Storages' })).toBeHidden();
  await expectAccessible(page);
});

test.describe('on a phone, in Chinese and dark', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } });

  test('the page fits', async ({ page }) => {
    await signIn(page);
    await page.goto('/admin/storages');
    await expect(page.getByText('每个用户各有一个文件夹')).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
    await page.getByRole('button', { name: '添加存储' }).click();
    await expectNoSideways(page);
  });
});
