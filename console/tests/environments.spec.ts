import { type Api, expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

// No index is needed: a project without dependencies is built from nothing.
const EMPTY = '[project]\nname = "empty"\nversion = "1"\ndependencies = []\n';

/** A job with an environment of its own, from a project that was uploaded with it. */
async function withPackages(api: Api, name: string, note: string): Promise<{ id: string; name: string }> {
  const upload = await api.upload({ 'pyproject.toml': `${EMPTY}description = "${note}"\n` });
  return api.submit({
    name,
    command: 'sleep 600',
    code: { upload },
    environment: { pyproject: 'pyproject.toml' },
  });
}

test('an environment says who uses it, shows its build log, and is removed once nobody does', async ({
  page,
  api,
}) => {
  const name = fresh('packed');
  const job = await withPackages(api, name, name);
  await api.until(job.id, 'RUNNING', 'FAILED');
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('link', { name: 'pyproject.toml' }).click();
  await expect(page.getByText(`Only the environment of ${name}.`)).toBeVisible();
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name }) });
  await expect(row.getByText('Ready')).toBeVisible();
  await row.getByRole('button', { name: 'Build log of pyproject.toml' }).click();
  await expect(page.getByRole('dialog', { name: 'Build log of pyproject.toml' })).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await row
    .getByRole('button', { name: /pyproject.toml/ })
    .last()
    .click();
  await expect(page.getByRole('menuitem', { name: /a job uses it/ })).toHaveAttribute(
    'aria-disabled',
    'true',
  );
  await page.keyboard.press('Escape');
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
  await page.getByRole('link', { name: 'Show all' }).click();
  const idle = page
    .getByRole('row')
    .filter({ hasText: 'pyproject.toml' })
    .filter({ hasText: 'no job' })
    .first();
  await idle.getByRole('button').last().click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('Environment of pyproject.toml removed')).toBeVisible();
});

test('who has no environment is told how to get one, and sees none of others', async ({ page, api }) => {
  const name = fresh('newcomer');
  await api.call('POST', '/users', { name, password: 'a long password', queues: { default: 'member' } });
  await signIn(page, name, 'a long password');
  await page.goto('/environments');
  await expect(page.getByText('No environments yet')).toBeVisible();
  await expectAccessible(page);
});

test.describe('on a phone, in Chinese and dark', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } });

  test('the page fits', async ({ page, api }) => {
    const job = await withPackages(api, fresh('phone'), fresh('phone'));
    await api.until(job.id, 'RUNNING', 'FAILED');
    await signIn(page);
    await page.goto('/environments');
    await expect(page.getByText('可用').first()).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
    await api.call('POST', `/jobs/${job.id}/stop`);
  });
});
