import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

test.beforeEach(({ page }) => signIn(page));

const log = (page: Page) => page.getByRole('log');

test('a job is watched from its first step to its end', async ({ page, api }) => {
  const gate = fresh('/tmp/footplate-gate');
  const job = await api.submit({
    name: fresh('watched'),
    command: `echo began; while [ ! -e ${gate} ]; do sleep 0.1; done; rm ${gate}; echo ended; exit 3`,
    retry: 0,
  });
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('heading', { level: 1, name: job.name })).toBeVisible();
  await expect(page.getByText('the task is running')).toBeVisible();
  const row = page.getByRole('row', { name: 'main-0' });
  await expect(row).toContainText('Running');
  await expect(row).toContainText('bench');

  await page.getByRole('tab', { name: 'Terminal' }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill(`touch ${gate}; echo "rank $RANK"`);
  await page.getByRole('button', { name: 'Run' }).click();
  await expect(page.getByText('rank 0')).toBeVisible();
  await expect(page.getByText('exit code 0')).toBeVisible();

  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect(page.getByText('A task failed')).toBeVisible();
  await expect(row).toContainText('Exited 3');
  await page.getByRole('tab', { name: 'Events' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Task exited' })).toContainText(
    'exited with code 3',
  );
});

test('a failed job shows the last lines of the task that failed, and the way to its log', async ({
  page,
  api,
}) => {
  const job = await api.finished({
    name: fresh('fails'),
    command:
      'for i in $(seq 40); do echo line $i; done; printf "\\033[31mRuntimeError: CUDA error\\033[0m\\n"; exit 3',
  });
  await page.goto(`/jobs/${job.id}`);
  const last = page.locator('section', { hasText: 'Last lines of main-0' }).last();
  await expect(last).toContainText('RuntimeError: CUDA error');
  await expect(last).toContainText('line 40');
  await expect(last.getByText('line 20', { exact: true })).toHaveCount(0);
  await expectAccessible(page);
  await last.getByRole('link', { name: 'Open the log' }).click();
  await expect(log(page)).toContainText('RuntimeError: CUDA error');
  const good = await api.finished({ name: fresh('works'), command: 'echo fine' });
  await page.goto(`/jobs/${good.id}`);
  await expect(page.getByRole('heading', { name: 'Tasks (1)' })).toBeVisible();
  await expect(page.getByText(/^Last lines/)).toHaveCount(0);
});

test('each sentence of a job is told once, in the timeline and among the events', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('told'), command: 'sleep 60' });
  await api.until(job.id, 'RUNNING');
  await api.call('POST', `/jobs/${job.id}/halt`);
  await api.until(job.id, 'STOPPED');
  await page.goto(`/jobs/${job.id}`);
  const panel = page.getByRole('tabpanel');
  await expect(panel.getByText(/by admin/)).toHaveCount(1);
  await expect(panel.getByRole('listitem').last()).toContainText('Stopped');
  await page.getByRole('link', { name: /All events/ }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Stop requested' })).toBeVisible();
  await expect(panel.getByText(/by admin/)).toHaveCount(1);
});

test('a job that was deleted while it ran no longer says so once restored', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('restored'), command: 'sleep 60' });
  await api.until(job.id, 'RUNNING');
  await api.call('DELETE', `/jobs/${job.id}`);
  await api.until(job.id, 'STOPPED');
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('stopped when admin deleted it; restored by admin').first()).toBeVisible();
  await expect(page.getByText('Deleted', { exact: true })).toHaveCount(0);
});

test('cards go by their type and number, and the log has most of the window', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('cards'), command: 'echo here; sleep 60', gpus: 1 });
  await api.until(job.id, 'RUNNING');
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('row', { name: 'main-0' })).toContainText(/A100 #\d/);
  await page.getByRole('tab', { name: 'Logs' }).click();
  await expect(log(page)).toContainText('here');
  const box = await log(page).boundingBox();
  expect(box?.height).toBeGreaterThan(460);
  expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(800);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('output is downloaded as an archive, and its menu gives the focus back', async ({ page, api }) => {
  const job = await api.finished({
    name: fresh('output'),
    command: 'echo model > $FOOTPLATE_OUTPUT_DIR/model.txt',
  });
  await page.goto(`/jobs/${job.id}`);
  const download = page.getByRole('button', { name: 'Download' });
  await download.click();
  const fetching = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Output', exact: true }).click();
  expect((await fetching).suggestedFilename()).toBe(`${job.name}-output.tar.gz`);
  await expect(page.getByRole('menu')).toBeHidden();
  await expect(download).toBeFocused();
});

test('the configuration is shown as YAML and JSON, and is that of the job', async ({ page, api }) => {
  const command =
    'echo "a: long line that nothing may break"; echo and more of it, on and on and on and on and on';
  const job = await api.finished({ name: fresh('configured'), command, tags: ['one'] });
  await page.goto(`/jobs/${job.id}?tab=config`);
  await expect(page.getByRole('textbox', { name: 'Configuration' })).toContainText(`name: ${job.name}`);
  const fetching = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download' }).last().click();
  const yaml = readFileSync(await (await fetching).path(), 'utf8');
  const answer = await api.call<{ config: unknown }>('POST', '/jobs/dry-run', { name: 'x', command: 'true' });
  expect(answer.config).toBeTruthy();
  expect(yaml).toContain('on and on and on and on and on');
  await page.getByText('JSON', { exact: true }).click();
  await expect(page.getByRole('textbox', { name: 'Configuration' })).toContainText(`"name": "${job.name}"`);
});

test('a job is edited, run again, deleted and restored', async ({ page, api }) => {
  const job = await api.finished({ name: `${fresh('handled')}-x`, command: 'true' });
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByLabel('Description').fill('a second look');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('paragraph').filter({ hasText: 'a second look' })).toBeVisible();

  await page.getByRole('button', { name: 'Run again' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `${job.name}-2` })).toBeVisible();

  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page).toHaveURL(/\/jobs$/);
  await page.getByText(`${job.name} moved to the trash`).getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText(`${job.name} restored`)).toBeVisible();
  await api.call('DELETE', `/jobs/${job.id}`);
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText('This job is in the trash.')).toBeVisible();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByText('This job is in the trash.')).toHaveCount(0);
});

test('a bad name is refused at its field', async ({ page, api, expected }) => {
  expected.push(/422/);
  const job = await api.finished({ name: fresh('misnamed'), command: 'true' });
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await page.getByLabel('Name').fill('no spaces');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog').getByText('is not allowed')).toBeVisible();
});

test('a number outside of its bounds is marked, never cut, and cannot be sent', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('bounded'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await page.goto(`/jobs/${job.id}?tab=exec`);
  const limit = page.getByLabel('Time limit (s)');
  await limit.fill('900');
  await expect(page.getByText('A whole number from 1 to 600')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Run' })).toBeDisabled();
  await page.getByRole('textbox', { name: 'Command' }).focus();
  await expect(limit).toHaveValue('900');
  await limit.fill('30');
  await expect(page.getByRole('button', { name: 'Run' })).toBeEnabled();

  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Priority').fill('5000');
  await expect(dialog.getByText('A whole number from -1000 to 1000')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Save' })).toBeDisabled();
  await dialog.getByLabel('Name').focus();
  await expect(dialog.getByLabel('Priority')).toHaveValue('5000');
  await dialog.getByLabel('Priority').fill('50');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(dialog).toBeHidden();
  expect((await api.call<{ priority: number }>('GET', `/jobs/${job.id}`)).priority).toBe(50);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('a job that failed and is kept runs no more, here and in the lists', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('kept'), command: 'exit 3', keep_on_failure: '30m' });
  await api.until(job.id, 'STOPPING');
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText('Failed, kept', { exact: true })).toHaveCount(2);
  await expect(page.getByText(/^Kept /)).toBeVisible();
  await expect(page.getByText('Stopping', { exact: true })).toHaveCount(0);
  await page.goto(`/jobs?search=${job.name}`);
  await expect(page.getByRole('row', { name: job.name })).toContainText('Failed, kept');
  await page.goto('/');
  await expect(page.getByText(/^Running, and \d+ kept$/)).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: job.name }).first()).toContainText(
    'Failed, kept',
  );
  await api.call('POST', `/jobs/${job.id}/release`);
  await api.until(job.id, 'FAILED');
});

test('what happened on another day has its date, and its zone when pointed at', async ({ page, api }) => {
  const job = await api.finished({ name: fresh('dated'), command: 'true' });
  await page.clock.setSystemTime(Date.now() + 86_400_000);
  for (const tab of ['overview', 'events']) {
    await page.goto(`/jobs/${job.id}?tab=${tab}`);
    const time = page.getByRole('tabpanel').getByRole('time').first();
    await expect(time).toHaveText(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    await expect(time).toHaveAttribute('title', /UTC|GMT|[A-Z]{3,4}$/);
  }
  await page.goto(`/jobs/${job.id}?tab=logs`);
  const submitted = log(page).getByText(/^\d{4}-\d\d-\d\d .*submitted to queue/);
  await expect(submitted).toHaveAttribute('title', /UTC|GMT|[A-Z]{3,4}$/);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`/jobs/${job.id}`);
  await expectNoSideways(page);
});

test('a command goes on, and its output stays, while another tab is looked at', async ({ page, api }) => {
  const gate = '$FOOTPLATE_OUTPUT_DIR/gate';
  const job = await api.submit({ name: fresh('commanded'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await page.goto(`/jobs/${job.id}?tab=exec`);
  const command = page.getByRole('textbox', { name: 'Command' });
  await command.fill(`while [ ! -e ${gate} ]; do sleep 0.1; done; echo went on`);
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByRole('tab', { name: 'Overview' }).click();
  await expect(page.getByRole('row', { name: 'main-0' })).toBeVisible();
  const touch = { task: 'main-0', command: ['sh', '-c', `touch ${gate}`], timeout_s: 10 };
  await api.call('POST', `/jobs/${job.id}/exec`, touch);
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await expect(page.getByText('went on', { exact: true })).toBeVisible();
  await expect(command).toHaveValue(/went on/);
  await page.getByRole('tab', { name: 'Events' }).click();
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
  await page.getByRole('tab', { name: 'Terminal' }).click();
  await expect(page.getByText('went on', { exact: true })).toBeVisible();
});

test('dialogs give the focus back to what opened them', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('focused'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await page.goto(`/jobs/${job.id}`);
  const more = page.getByRole('button', { name: 'More' });
  for (const item of ['Edit', 'Delete']) {
    await more.click();
    await page.getByRole('menuitem', { name: item, exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await expect(more).toBeFocused();
  }
  const stop = page.getByRole('button', { name: /Stop$/ });
  await stop.click();
  await page.keyboard.press('Escape');
  await expect(stop).toBeFocused();
  await page.goto('/admin/users');
  const add = page.getByRole('button', { name: 'Add user' });
  await add.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await expect(add).toBeFocused();
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('two presses on "Run again" make one job', async ({ page, api }) => {
  const job = await api.finished({ name: `${fresh('pressed')}-x`, command: 'true' });
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'Run again' }).dblclick();
  await expect(page.getByRole('heading', { level: 1, name: `${job.name}-2` })).toBeVisible();
  const { items } = await api.call<{ items: unknown[] }>('GET', `/jobs?search=${job.name}`);
  expect(items.length).toBe(2);
  await page.goBack();
  await page.getByRole('button', { name: 'Run again' }).click();
  await expect(page.getByRole('heading', { level: 1, name: `${job.name}-3` })).toBeVisible();
});

test('attempts are told apart, each with its tasks and its log', async ({ page, api }) => {
  const job = await api.finished({
    name: fresh('retried'),
    command: 'echo "try $FOOTPLATE_ATTEMPT"; exit 4',
    retry: 1,
  });
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('heading', { name: 'Attempt 2' })).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Attempt 1' })).toBeVisible();
  await page.goto(`/jobs/${job.id}?tab=logs&attempt=0`);
  await expect(log(page)).toContainText('try 0');
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('try 1');
});

test('a job that does not exist is said to be gone', async ({ page, expected }) => {
  expected.push(/404/);
  await page.goto('/jobs/000000000000');
  await expect(page.getByText('This job does not exist')).toBeVisible();
});

const TABS = ['overview', 'logs', 'metrics', 'usage', 'events', 'config', 'exec'];

for (const [scheme, locale] of [
  ['light', 'en-GB'],
  ['dark', 'zh-CN'],
] as const) {
  test.describe(`${scheme}, ${locale}`, () => {
    test.use({ colorScheme: scheme, locale });
    test('every tab of a job is accessible and fits', async ({ page, api }) => {
      const command =
        'for c in 30 31 32 33 34 35 36 37 90 91 92 93 94 95 96 97; do printf "\\033[%dmcolour\\033[0m\\n" $c; done; sleep 60';
      const job = await api.submit({ name: fresh('tabs'), command });
      await api.until(job.id, 'RUNNING');
      await page.goto(`/jobs/${job.id}`);
      for (const [index, tab] of TABS.entries()) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.getByRole('tab').nth(index).click();
        await expect(page).toHaveURL(tab === 'overview' ? /\w{12}$/ : new RegExp(`tab=${tab}`));
        await expect(page.getByRole('tabpanel')).toBeVisible();
        await expectAccessible(page);
        await page.setViewportSize({ width: 390, height: 844 });
        await expectNoSideways(page);
      }
      await api.call('POST', `/jobs/${job.id}/stop`);
    });
  });
}

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test("reasons, events and refusals are told in Chinese, the server's words beside them", async ({
    page,
    api,
    expected,
  }) => {
    expected.push(/422|409/);
    const failed = await api.finished({ name: fresh('chinese'), command: 'exit 3' });
    await page.goto(`/jobs/${failed.id}`);
    const reason = page.getByTitle(/^task main-0 exited with code 3/).first();
    await expect(reason).toHaveText('子任务 main-0 以退出码 3 结束');
    await page.goto(`/jobs/${failed.id}?tab=events`);
    await expect(page.getByRole('listitem').getByText('子任务 main-0 以退出码 3 结束').first()).toBeVisible();
    await expect(page.getByText('服务器提示')).toHaveCount(0);
    const busy = await api.submit({ name: fresh('busy'), command: 'sleep 60', gpus: 3 });
    await api.until(busy.id, 'RUNNING');
    const waits = await api.submit({ name: fresh('waits'), command: 'true', gpus: 3 });
    await page.goto(`/jobs/${waits.id}`);
    await expect(
      page.getByText(/^需要同时有 3 张 GPU；共 4，空闲 1；改为 1 张 GPU 即可立即启动/).first(),
    ).toBeVisible();
    for (const { id } of [waits, busy]) await api.call('POST', `/jobs/${id}/stop`);

    await page.goto(`/jobs/${failed.id}`);
    await page.getByRole('button', { name: '更多' }).click();
    await page.getByRole('menuitem', { name: '编辑' }).click();
    await page.getByLabel('名称').fill('no spaces');
    await page.getByRole('button', { name: '保存' }).click();
    await expect(page.getByRole('dialog').getByText(/不允许 .*：必须是字母、数字/)).toBeVisible();
  });
});

test('on a phone all tabs of a running job are there, and nothing but tabs', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('narrow'), command: 'sleep 600' });
  await api.until(job.id, 'RUNNING');
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('tab', { name: 'Terminal' })).toBeVisible();
  await expectAccessible(page);
  await api.call('POST', `/jobs/${job.id}/stop`);
});
