import type { Page } from '@playwright/test';
import { type Api, expect, fresh, signIn, test } from './support/bench';

const PASSWORD = 'a good long password';

async function person(api: Api, role: 'viewer' | 'member'): Promise<string> {
  const name = fresh(role);
  await api.call('POST', '/users', { name, password: PASSWORD, queues: { default: role } });
  return name;
}

const action = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('somebody who may only look is offered nothing that would be refused', async ({ page, api }) => {
  const viewer = await person(api, 'viewer');
  const job = await api.submit({ name: fresh('looked-at'), command: 'sleep 120', shared: true });
  await api.until(job.id, 'RUNNING');
  await signIn(page, viewer, PASSWORD);
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('tab', { name: 'Logs' })).toBeVisible();
  await expect(page.getByRole('tab', { name: 'Terminal' })).toHaveCount(0);
  await expect(action(page, 'Stop')).toHaveCount(0);
  await expect(action(page, 'Download')).toHaveCount(0);
  await page.goto(`/jobs?search=${job.name}`);
  await page.getByLabel(`Select ${job.name}`).check();
  await expect(page.getByText('you may not change 1 of them')).toBeVisible();
  await expect(action(page, 'Stop')).toBeDisabled();
  await expect(action(page, 'Delete')).toBeDisabled();
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText('Stopped', { exact: true }).first()).toBeVisible();
  await expect(action(page, 'Run again')).toHaveCount(0);
});

test('a private job shows colleagues an outline, and all of it once it is shared', async ({ page, api }) => {
  const member = await person(api, 'member');
  const job = await api.submit({
    name: fresh('private'),
    description: 'nobody reads this',
    command: 'sleep 120',
  });
  await api.until(job.id, 'RUNNING');
  await signIn(page, member, PASSWORD);
  await page.goto(`/jobs?search=${job.name}`);
  await expect(page.getByLabel('private: only admin and admins see its details')).toBeVisible();
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText('The details of this job are private')).toBeVisible();
  await expect(page.getByText('nobody reads this')).toHaveCount(0);
  await expect(page.getByRole('tab')).toHaveCount(0);
  for (const name of ['Clone', 'Download', 'Stop']) await expect(action(page, name)).toHaveCount(0);
  await api.call('PATCH', `/jobs/${job.id}`, { shared: true });
  await expect(page.getByRole('tab', { name: 'Logs' })).toBeVisible();
  await expect(page.getByText('nobody reads this')).toBeVisible();
  await expect(action(page, 'Stop')).toHaveCount(0);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('a job that waits offers no files, and says so', async ({ page, api }) => {
  const busy = await api.submit({ name: fresh('holds-all'), command: 'sleep 120', gpus: 4 });
  await api.until(busy.id, 'RUNNING');
  const waits = await api.submit({ name: fresh('has-nothing'), command: 'true', gpus: 4 });
  await signIn(page);
  await page.goto(`/jobs/${waits.id}`);
  await action(page, 'Download').click();
  const output = page.getByRole('menuitem', { name: 'Output (nothing there)' });
  await expect(output).toHaveAttribute('aria-disabled', 'true');
  for (const { id } of [waits, busy]) await api.call('POST', `/jobs/${id}/stop`);
});

test('the default queue and the last admin cannot be taken away, and it is said why', async ({ page }) => {
  await signIn(page);
  await page.goto('/admin/queues');
  await page.getByRole('button', { name: 'More for default' }).click();
  const item = page.getByRole('menuitem', { name: 'Delete: jobs without a queue use this one' });
  await expect(item).toHaveAttribute('aria-disabled', 'true');
  await page.goto('/admin/users');
  await expect(page.getByRole('switch', { name: 'admin is a platform admin', exact: true })).toBeDisabled();
});

test('disabling somebody asks first', async ({ page, api }) => {
  const member = await person(api, 'member');
  await signIn(page);
  await page.goto('/admin/users');
  const row = page.getByRole('row', { name: new RegExp(member) });
  const enabled = row.getByRole('switch').last();
  await enabled.click();
  const dialog = page.getByRole('dialog', { name: `Disable ${member}?` });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(enabled).toBeChecked();
  await enabled.click();
  await page
    .getByRole('dialog', { name: `Disable ${member}?` })
    .getByRole('button', { name: 'Disable' })
    .click();
  await expect(enabled).not.toBeChecked();
});

test('making somebody a platform admin asks first, and so does the way back; the trail tells which', async ({
  page,
  api,
}) => {
  const member = await person(api, 'member');
  await signIn(page);
  await page.goto('/admin/users');
  const admin = page.getByRole('switch', { name: `${member} is a platform admin`, exact: true });
  await admin.click();
  const dialog = page.getByRole('dialog', { name: `Make ${member} a platform admin?` });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(admin).not.toBeChecked();
  await admin.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Make admin' }).click();
  await expect(admin).toBeChecked();
  await admin.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Take away' }).click();
  await expect(admin).not.toBeChecked();
  await page.goto(`/admin/audit?subject=${member}&action=user.changed`);
  await expect(page.getByText(/^admin: (no → yes|yes → no)$/)).toHaveText([
    'admin: yes → no',
    'admin: no → yes',
  ]);
});

test('a queue with jobs cannot be deleted, and it is said why before anybody asks', async ({ page, api }) => {
  const queue = fresh('kept');
  await api.call('POST', '/queues', { name: queue });
  const job = await api.finished({ name: fresh('in-queue'), command: 'true', queue });
  await signIn(page);
  await page.goto('/admin/queues');
  await page.getByRole('button', { name: `More for ${queue}` }).click();
  await expect(page.getByRole('menuitem', { name: 'Delete: it still has jobs' })).toBeVisible();
  await api.call('DELETE', `/jobs/${job.id}?for_good=true`);
});

test('questions before an end name the job, and say when it still runs', async ({ page, api, expected }) => {
  // The page may ask once more for what is being removed.
  expected.push(/404/);
  const job = await api.submit({ name: fresh('named'), command: 'sleep 120' });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await action(page, 'Stop').click();
  await expect(page.getByRole('dialog', { name: `Stop ${job.name}?` })).toBeVisible();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete permanently' }).click();
  const dialog = page.getByRole('dialog', { name: `Delete ${job.name} permanently?` });
  await expect(dialog).toContainText('It is still active and is stopped first.');
  await dialog.getByRole('button', { name: 'Delete permanently' }).click();
  await expect(page).toHaveURL(/\/jobs$/);
});

test('the session of this browser is marked, and revoking it is asked about', async ({ page, api }) => {
  const member = await person(api, 'member');
  await signIn(page, member, PASSWORD);
  await page.goto('/profile');
  const line = page.getByRole('listitem').filter({ hasText: 'this browser' });
  await line.getByRole('button', { name: /^More for/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await expect(page.getByRole('dialog')).toContainText('You are signed out.');
});

test('a name that is taken is told at the field', async ({ page, api, expected }) => {
  expected.push(/409/);
  const member = await person(api, 'member');
  await signIn(page);
  await page.goto('/admin/users');
  await page.getByRole('button', { name: 'Add user' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill(member);
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Add user' }).click();
  await expect(dialog.getByText(new RegExp(`There is already a user .*${member}.*`))).toBeVisible();
});

test('somebody without a queue is told whom to ask', async ({ page, api }) => {
  const name = fresh('queueless');
  await api.call('POST', '/users', { name, password: PASSWORD, queues: {} });
  await signIn(page, name, PASSWORD);
  await page.goto('/');
  await expect(page.getByText('You have no role in any queue yet')).toBeVisible();
});
