import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

const PASSWORD = 'a long enough password';
let user = '';

test.beforeEach(async ({ page, api }) => {
  user = fresh('person');
  await api.call('POST', '/users', { name: user, password: PASSWORD });
  await signIn(page, user, PASSWORD);
  await page.goto('/profile');
});

test('a token is made, shown once, used, and revoked', async ({ page, baseURL }) => {
  await page.getByRole('button', { name: 'New token' }).click();
  await page.getByLabel('What it is for').fill('notebook');
  await page.getByRole('button', { name: 'Create token' }).click();
  const token = await page.getByRole('dialog').locator('code').textContent();
  expect(token).toMatch(/^fp_/);
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(`${baseURL}/api/v1/me`, { headers })).status).toBe(200);
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeHidden();
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText(token ?? '')).toHaveCount(0);
  await page.getByRole('button', { name: 'More for notebook' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText('Token revoked')).toBeVisible();
  expect((await fetch(`${baseURL}/api/v1/me`, { headers })).status).toBe(401);
});

test('an access key is made, shown once, signs a request, and is revoked', async ({ page, baseURL }) => {
  await page.getByRole('button', { name: 'New access key' }).click();
  await page.getByLabel('What it is for').fill('laptop');
  await page.getByRole('button', { name: 'Create access key' }).click();
  const shown = page.getByRole('dialog').locator('code');
  await expect(shown).toHaveCount(2);
  const [id = '', secret = ''] = await shown.allTextContents();
  expect(id).toMatch(/^FPAK/);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(page.getByText(secret)).toHaveCount(0);
  const line = page.getByRole('main').getByRole('listitem').filter({ hasText: id });
  await expect(line).toContainText('Last used never');
  expect(await listJobs(baseURL, id, secret)).toBe(0);
  expect(await listJobs(baseURL, id, 'another')).toBe(171);
  await page.reload();
  await expect(line).not.toContainText('never');
  await page.getByRole('button', { name: 'More for laptop' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText('Access key revoked')).toBeVisible();
  expect(await listJobs(baseURL, id, secret)).toBe(171);
});

/** A request of UAI's client, signed; returns its code of return. */
async function listJobs(baseURL: string | undefined, id: string, secret: string): Promise<number> {
  const asked = { Action: 'GetUAITrainJobList', Limit: '0', Offset: '0', PublicKey: id, Region: 'cn-bj2' };
  const text = Object.entries(asked).flat().join('') + secret;
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  const signature = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const answer = await fetch(`${baseURL}/?${new URLSearchParams({ ...asked, Signature: signature })}`);
  return (await answer.json()).RetCode;
}

test('all other tokens are revoked at once, and this browser stays signed in', async ({ page, baseURL }) => {
  const { token } = await (
    await page.request.post('/api/v1/login', { data: { user, password: PASSWORD, name: 'lost laptop' } })
  ).json();
  await page.reload();
  await expect(page.getByRole('main').getByRole('listitem').first()).toContainText('this browser');
  await page.getByRole('button', { name: 'Revoke all others' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByText('1 token revoked')).toBeVisible();
  await expect(page.getByText('lost laptop')).toHaveCount(0);
  const headers = { Authorization: `Bearer ${token}` };
  expect((await fetch(`${baseURL}/api/v1/me`, { headers })).status).toBe(401);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
});

test('a password is changed, and the browser stays signed in', async ({ page, expected }) => {
  expected.push(/422/);
  await page.getByLabel('Current password').fill('wrong');
  await page.getByLabel('New password', { exact: true }).fill('another long password');
  await page.getByLabel('New password again').fill('another long');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('This differs from the new password')).toBeVisible();
  await page.getByLabel('New password again').fill('another long password');
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('is not your current password')).toBeVisible();
  await page.getByLabel('Current password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Change password' }).click();
  await expect(page.getByText('Password changed')).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
});

test('language and theme are chosen and kept', async ({ page }) => {
  await page.getByText('Dark', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.getByText('中文', { exact: true }).click();
  await expect(page.getByRole('heading', { name: '个人设置' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('heading', { name: '个人设置' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSideways(page);
});

test('the profile is accessible', async ({ page }) => {
  await expect(page.getByText('Member', { exact: true })).toBeVisible();
  await expectAccessible(page);
});
