import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import {
  Api,
  expect,
  expectAccessible,
  expectNoSideways,
  fresh,
  signIn,
  signInByForm,
  test,
} from './support/bench';

const USER_PASSWORD = 'a long enough one';

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/sign-in/);
}

const navigation = (page: Page) => page.getByRole('navigation', { name: 'Main navigation' });

test('an admin makes a queue and a user, who signs in and sees only what is theirs', async ({
  page,
  api,
}) => {
  const queue = fresh('lab');
  const user = fresh('ada');
  const hidden = await api.finished({ name: fresh('hidden'), command: 'true' });
  await signIn(page);
  await page.goto('/');
  await navigation(page).getByRole('link', { name: 'Queues' }).click();
  await page.getByRole('button', { name: 'Add queue' }).click();
  const form = page.getByRole('dialog', { name: 'Add queue' });
  await form.getByLabel('Name').fill(queue);
  await form.getByLabel('Description').fill('For tests');
  await form.getByLabel('CPUs').nth(1).fill('1');
  await form.getByRole('button', { name: 'Add queue' }).click();
  await expect(page.getByRole('heading', { name: new RegExp(queue) })).toBeVisible();

  await navigation(page).getByRole('link', { name: 'Users' }).click();
  await page.getByRole('button', { name: 'Add user' }).click();
  const person = page.getByRole('dialog', { name: 'Add user' });
  await person.getByLabel('Name', { exact: true }).fill(user);
  await person.getByLabel('Password').fill(USER_PASSWORD);
  await person.getByLabel('Queues').click();
  await page.getByTitle(queue).click();
  await page.keyboard.press('Escape');
  await person.getByTitle('default', { exact: true }).getByLabel('close').click();
  await person.getByRole('button', { name: 'Add user' }).click();
  await expect(page.getByRole('row', { name: new RegExp(user) })).toContainText(`${queue}: Member`);

  await signOut(page);
  await signInByForm(page, user, USER_PASSWORD);
  await expect(navigation(page).getByRole('link', { name: 'Users' })).toHaveCount(0);
  await expect(navigation(page).getByRole('link', { name: 'Queues' })).toHaveCount(0);
  await page.goto('/jobs');
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  await expect(page.getByText(hidden.name)).toHaveCount(0);
  await page.goto('/admin/users');
  await expect(page.getByText('This page is for platform admins')).toBeVisible();
  const own = fresh('own');
  await page.goto('/submit');
  await page.getByLabel('Name', { exact: true }).fill(own);
  await page.getByLabel('Queue', { exact: true }).click();
  const offered = page.locator('.ant-select-item-option');
  await expect(offered).toHaveText(new RegExp(queue));
  await offered.click();
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Command', { exact: true }).fill('echo mine');
  await page.getByLabel('CPUs per task', { exact: true }).fill('0.1');
  await page.getByRole('button', { name: 'Review and submit' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/jobs\/\w{12}/);
  await page.goto('/jobs');
  await expect(page.getByRole('link', { name: own })).toBeVisible();
});

test('wrong input is marked at its field, before and after the server sees it', async ({
  page,
  expected,
}) => {
  expected.push(/422|409/);
  await signIn(page);
  await page.goto('/admin/queues');
  await page.getByRole('button', { name: 'Add queue' }).click();
  const form = page.getByRole('dialog', { name: 'Add queue' });
  await form.getByLabel('Name').fill('no spaces');
  await form.getByLabel('CPUs').nth(0).fill('-1');
  await form.getByRole('button', { name: 'Add queue' }).click();
  await expect(form.getByText(/^Letters, digits/)).toBeVisible();
  await expect(form.getByText('A number of 0 or more')).toBeVisible();
  await form.getByLabel('Name').fill(fresh('bad'));
  await form.getByLabel('CPUs').nth(0).fill('');
  await form.getByLabel('Environments').fill('torch = /nowhere/at/all');
  await form.getByRole('button', { name: 'Add queue' }).click();
  await expect(form.getByText(/There is no folder \/nowhere/)).toBeVisible();
  await form.getByLabel('Environments').fill('');
  await form.getByLabel('Name').fill('default');
  await form.getByRole('button', { name: 'Add queue' }).click();
  await expect(page.getByText('there is already a queue default')).toBeVisible();
});

test('users are disabled, get new passwords and roles, and are deleted', async ({ page, api, baseURL }) => {
  const user = fresh('bob');
  await api.call('POST', '/users', { name: user, password: USER_PASSWORD, queues: {} });
  await signIn(page);
  await page.goto('/admin/users');
  const row = page.getByRole('row', { name: new RegExp(user) });
  await row.getByLabel(`${user} may sign in`).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
  await expect(row.getByLabel(`${user} may sign in`)).not.toBeChecked();
  await expect(Api.signIn(baseURL ?? '', user, USER_PASSWORD)).rejects.toThrow('disabled');
  await row.getByLabel(`${user} may sign in`).click();
  await expect(row.getByLabel(`${user} may sign in`)).toBeChecked();

  await page.getByRole('button', { name: `More for ${user}` }).click();
  await page.getByRole('menuitem', { name: 'Reset password' }).click();
  await page.getByLabel('New password').fill('another one entirely');
  await page.getByRole('dialog').getByRole('button', { name: 'Reset password' }).click();
  await expect(page.getByText(`${user} has a new password`)).toBeVisible();
  await Api.signIn(baseURL ?? '', user, 'another one entirely');

  await page.getByRole('button', { name: `More for ${user}` }).click();
  await page.getByRole('menuitem', { name: `Queues of ${user}` }).click();
  await page.getByLabel('Role of default', { exact: true }).click();
  await page.getByTitle('Viewer', { exact: true }).click();
  await page.getByRole('button', { name: 'Close' }).click();
  await expect(row).toContainText('default: Viewer');

  await page.getByRole('button', { name: `More for ${user}` }).click();
  await page.getByRole('menuitem', { name: 'Full name and e-mail' }).click();
  await page.getByLabel('Full name', { exact: true }).fill('Bob Brown');
  await page.getByLabel('E-mail', { exact: true }).fill('no address');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('An address such as')).toBeVisible();
  await page.getByLabel('E-mail', { exact: true }).fill('bob@example.org');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('Bob Brown · bob@example.org');
  await expect(row).toContainText('never');

  await page.getByRole('button', { name: `More for ${user}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});

test('the admin of a queue sees that queue alone, and its members', async ({ page, api }) => {
  const [queue, user, other] = [fresh('own'), fresh('eve'), fresh('mia')];
  await api.call('POST', '/queues', { name: queue, is_open: true });
  await api.call('POST', '/users', { name: user, password: USER_PASSWORD, queues: { [queue]: 'admin' } });
  await api.call('POST', '/users', { name: other, password: USER_PASSWORD, queues: {} });
  await signIn(page, user, USER_PASSWORD);
  await page.goto('/');
  await navigation(page).getByRole('link', { name: 'Queues' }).click();
  await expect(page.getByRole('heading', { level: 2, name: new RegExp(queue) })).toBeVisible();
  await expect(page.getByRole('heading', { level: 2, name: /^default/ })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Add queue' })).toHaveCount(0);
  await page.getByRole('button', { name: `Members of ${queue}` }).click();
  const dialog = page.getByRole('dialog', { name: `Members of ${queue}` });
  await dialog.getByLabel('User name').fill(other);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(dialog.getByLabel(`Role of ${other}`)).toBeVisible();
  await dialog.getByRole('button', { name: `Remove ${other}` }).click();
  await expect(dialog.getByLabel(`Role of ${other}`)).toHaveCount(0);
});

test('a node is drained and taken into use again', async ({ page, api }) => {
  await signIn(page);
  await page.goto('/admin/nodes');
  await expect(page.getByText('Enforced limits')).toBeVisible();
  const takes = page.getByRole('switch');
  await takes.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
  await expect(takes).not.toBeChecked();
  const { items } = await api.call<{ items: { is_schedulable: boolean }[] }>('GET', '/nodes');
  expect(items[0]?.is_schedulable).toBe(false);
  await takes.click();
  await expect(takes).toBeChecked();
  await page.getByRole('main').getByRole('link', { name: 'bench', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'bench' })).toBeVisible();
  await expect(page.getByText('Enforced limits')).toBeVisible();
});

test('a queue is changed, closed and deleted', async ({ page, api }) => {
  const queue = fresh('short');
  await api.call('POST', '/queues', { name: queue, is_open: true });
  await signIn(page);
  await page.goto('/admin/queues');
  await page.getByRole('button', { name: `Edit queue ${queue}` }).click();
  const form = page.getByRole('dialog', { name: `Edit queue ${queue}` });
  await form.getByLabel('Memory (GB)').nth(1).fill('1.5');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form).toBeHidden();
  const found = () =>
    api.call<{ maximum: { memory_bytes: number } | null; is_open: boolean }>('GET', `/queues/${queue}`);
  expect((await found()).maximum?.memory_bytes).toBe(1.5 * 1024 ** 3);
  await page.getByLabel(`Queue ${queue} takes new jobs`).click();
  await expect.poll(async () => (await found()).is_open).toBe(false);
  await page.getByRole('button', { name: `More for ${queue}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('heading', { name: new RegExp(queue) })).toHaveCount(0);
});

test('images come and go, and the form offers them', async ({ page, api }) => {
  const image = fresh('torch');
  await signIn(page);
  await page.goto('/admin/images');
  const { items } = await api.call<{ items: { runs_images: boolean }[] }>('GET', '/engines');
  const isRun = items.some(({ runs_images }) => runs_images);
  await expect(page.getByText('This server cannot run images')).toHaveCount(isRun ? 0 : 1);
  await page.getByRole('button', { name: 'Add image' }).click();
  const form = page.getByRole('dialog', { name: 'Add image' });
  await form.getByLabel('Name').fill(image);
  await form.getByLabel('Reference').fill('registry.example.com/team/torch:2.13');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('row', { name: new RegExp(image) })).toBeVisible();
  await page.goto('/submit');
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Image', { exact: true }).fill(image);
  await expect(page.locator('.ant-select-item-option').filter({ hasText: image })).toBeVisible();
  await page.goto('/admin/images');
  await page.getByRole('button', { name: `More for ${image}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('row', { name: new RegExp(image) })).toHaveCount(0);
});

test('secrets go in by name, and no value comes out', async ({ page, api }) => {
  const secret = fresh('wandb');
  await signIn(page);
  await page.goto('/secrets');
  await page.getByRole('button', { name: 'Set secret' }).click();
  const form = page.getByRole('dialog', { name: 'Set secret' });
  await form.getByLabel('Name').fill(secret);
  await form.getByRole('textbox', { name: 'Value' }).fill('hush-hush');
  await form.getByRole('button', { name: 'Set', exact: true }).click();
  await expect(page.getByRole('row', { name: new RegExp(secret) })).toContainText('never');
  await expect(page.getByText('hush-hush')).toHaveCount(0);
  await api.finished({ name: fresh('uses'), command: 'test "$KEY" = hush-hush', secrets: { KEY: secret } });
  await page.reload();
  await expect(page.getByRole('row', { name: new RegExp(secret) })).not.toContainText('never');
  await page.getByRole('button', { name: `More for ${secret}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('row', { name: new RegExp(secret) })).toHaveCount(0);

  await page.getByRole('button', { name: 'Set secret' }).click();
  await form.getByLabel('Name').fill(secret);
  await form.getByText('Registry login').click();
  await form.getByLabel('Registry', { exact: true }).fill('registry.example.com');
  await form.getByLabel('User name').fill('robot');
  await form.getByLabel('Password').fill('hush');
  await form.getByRole('button', { name: 'Set', exact: true }).click();
  await expect(page.getByRole('row', { name: new RegExp(secret) })).toContainText('Registry login');
});

test('the audit trail has pages and a filter, the settings are there to read', async ({ page, api }) => {
  const user = fresh('trail');
  await api.call('POST', '/users', { name: user, password: USER_PASSWORD, queues: {} });
  for (let index = 0; index < 55; index += 1) {
    await api.call('PATCH', `/users/${user}`, { is_enabled: index % 2 === 0 });
  }
  await signIn(page);
  await page.goto('/admin/audit');
  await expect(page.getByRole('row')).toHaveCount(51);
  await page.getByRole('button', { name: 'Show older' }).click();
  await expect(page.getByRole('row', { name: new RegExp(`added user ${user}`) })).toBeVisible();
  await page.goto(`/admin/audit?actor=${user}`);
  await expect(page.getByText('No entry matches these filters')).toBeVisible();
  await page.goto('/admin/settings');
  await expect(page.getByText('settings.toml').first()).toBeVisible();
  const port = page.getByRole('row', { name: /^port / });
  await expect(port).toContainText('command line');
  const node = page.getByRole('row', { name: /^node / });
  await expect(node.getByTitle('Change it in settings.toml and start the server again.')).toBeVisible();
  await expect(page.getByRole('row', { name: /^retry_pause 0s/ })).toContainText('settings.toml');
  await expect(page.getByRole('row', { name: /^trash_kept 1d/ })).toContainText('default');
});

test('the trail says what a value was and became, is filtered, and exported as a table', async ({
  page,
  api,
}) => {
  const queue = fresh('trailed');
  await api.call('POST', '/queues', { name: queue, description: 'for trials' });
  await api.call('PATCH', `/queues/${queue}`, { maximum: { gpus: 2 } });
  await signIn(page);
  await page.goto('/admin/audit');
  await page.getByLabel('Name of user, queue, job…').fill(queue);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`subject=${queue}`));
  await expect(page.getByText('maximum: unlimited → 2 GPUs')).toBeVisible();
  await expect(page.getByText('description: none → for trials')).toBeVisible();
  await page.getByRole('combobox', { name: 'Only this action' }).fill('added queue');
  await page.locator('.ant-select-item-option', { hasText: 'added queue' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  const loading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await loading;
  expect(file.suggestedFilename()).toBe('audit.csv');
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(`queue.added,${queue}`);
  await page.getByLabel('Up to and with this day').fill('2020-01-01');
  await expect(page.getByText('No entry matches these filters')).toBeVisible();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page.getByText('description: none → for trials')).toBeVisible();
  await api.call('DELETE', `/queues/${queue}`);
});

const PAGES = ['users', 'queues', 'nodes', 'images', 'audit', 'settings'].map((page) => `/admin/${page}`);

for (const [scheme, width, height] of [
  ['light', 1280, 800],
  ['dark', 390, 844],
] as const) {
  test(`the pages of admins are accessible, ${scheme}, at ${width}`, async ({ page, api }) => {
    await api.call('PUT', '/images/base', { reference: 'python:3.12', description: 'x', is_default: true });
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width, height });
    await signIn(page);
    for (const path of [...PAGES, '/secrets']) {
      await page.goto(path);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.locator('.ant-skeleton')).toHaveCount(0);
      await expectAccessible(page);
      await expectNoSideways(page);
    }
    await page.goto('/admin/queues');
    await page.getByRole('button', { name: 'Add queue' }).click();
    await expect(page.getByRole('dialog').getByLabel('Name')).toBeFocused();
    await expect(page.locator('.ant-zoom-appear')).toHaveCount(0);
    await expectAccessible(page);
  });
}

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test('the pages of admins do too', async ({ page }) => {
    await signIn(page);
    const titles = {
      users: '用户',
      queues: '队列',
      nodes: '节点',
      images: '镜像',
      audit: '审计日志',
      settings: '系统设置',
    };
    for (const [path, title] of Object.entries(titles)) {
      await page.goto(`/admin/${path}`);
      await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
    }
  });
});
