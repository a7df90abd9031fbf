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
  await expect(page.getByText('the task runs')).toBeVisible();
  const row = page.getByRole('row', { name: 'main-0' });
  await expect(row).toContainText('Running');
  await expect(row).toContainText('bench');
  await expect(row).toContainText('127.0.0.1');

  await page.getByRole('tab', { name: 'Command' }).click();
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

test('a log is followed line by line, with colours and folded progress', async ({ page, api }) => {
  const job = await api.submit({
    name: fresh('followed'),
    command:
      'printf \'\\033[31mred\\033[0m plain\\n\'; for i in 1 2 3; do printf "\\rstep $i/3"; sleep 0.1; done; echo; ' +
      'n=0; while true; do n=$((n+1)); echo "tick $n"; sleep 0.2; done',
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('tick 3');
  await expect(log(page)).toContainText('step 3/3');
  await expect(log(page)).not.toContainText('step 1/3');
  const red = log(page).getByText('red', { exact: true });
  expect(await red.evaluate((node) => getComputedStyle(node).color)).not.toBe(
    await log(page).evaluate((node) => getComputedStyle(node).color),
  );
  const seen = async () => Number(/tick (\d+)\D*$/.exec((await log(page).textContent()) ?? '')?.[1]);
  const before = await seen();
  await expect.poll(seen, { timeout: 4000 }).toBeGreaterThan(before + 3);
  await page.getByRole('button', { name: /Stop$/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await expect(log(page)).toContainText('stopped by admin');
});

test('the logs of several tasks are read in one and each by itself', async ({ page, api }) => {
  const job = await api.call<{ id: string }>('POST', '/jobs', {
    name: fresh('gang'),
    roles: [
      { name: 'ps', command: 'echo I serve', cpus: 0.1, memory: '64MB' },
      {
        name: 'worker',
        count: 2,
        command: 'echo "I am $FOOTPLATE_TASK_INDEX"; sleep 0.5',
        cpus: 0.1,
        memory: '64MB',
      },
    ],
  });
  await api.until(job.id, 'SUCCEEDED', 'FAILED');
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('I serve');
  await expect(log(page)).toContainText('I am 0');
  await page.getByRole('textbox', { name: 'Show only lines with…' }).fill('serve');
  await expect(log(page)).not.toContainText('I am 0');
  await page.getByRole('tab', { name: 'Overview' }).click();
  await page.getByRole('link', { name: 'Logs of worker-1' }).click();
  await expect(log(page)).toContainText('I am 1');
  await expect(log(page)).not.toContainText('I am 0');
});

test('100 MB of log open at their end within a second, scroll, and are searched', async ({ page, api }) => {
  const line = 'x'.repeat(80);
  const job = await api.finished({
    name: fresh('long'),
    command: `awk 'BEGIN { for (i = 0; i < 1100000; i++) printf "%08d ${line}\\n", i; print "the very end" }'`,
    memory: '256MB',
  });
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByRole('tab', { name: 'Logs' })).toBeVisible();
  const began = Date.now();
  await page.getByRole('tab', { name: 'Logs' }).click();
  await expect(log(page)).toContainText('the very end');
  expect(Date.now() - began).toBeLessThan(1000);

  const drawn = await log(page).evaluate(async (box) => {
    let longestMs = 0;
    let last = performance.now();
    for (let step = 0; step < 60; step += 1) {
      box.scrollTop -= 400;
      await new Promise(requestAnimationFrame);
      longestMs = Math.max(longestMs, performance.now() - last);
      last = performance.now();
    }
    return longestMs;
  });
  expect(drawn).toBeLessThan(250);
  await page.getByRole('textbox', { name: 'Search this log' }).fill('00424242 x');
  await expect(page.getByText('1', { exact: true })).toBeVisible();
  await page.getByRole('textbox', { name: 'Search this log' }).press('Enter');
  await expect(log(page).locator('mark')).toHaveText('00424242 x');
  await expect(log(page)).toContainText('00424241');

  await page.getByRole('button', { name: 'To the beginning' }).click();
  await expect(log(page)).toContainText('submitted to queue default');
  await expect(log(page)).toContainText('00000000 x');
  await page.getByRole('button', { name: 'To the end' }).click();
  await expect(log(page)).toContainText('the very end');
});

test('a log is downloaded byte for byte, and shown over the whole window', async ({ page, api }) => {
  const job = await api.finished({
    name: fresh('fetched'),
    command: "printf 'one\\r\\ntwo\\n\\033[1mthree'",
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('three');
  const fetching = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download log' }).click();
  const fetched = await fetching;
  expect(fetched.suggestedFilename()).toBe(`${job.name}-main-0-attempt-0.log`);
  expect(readFileSync(await fetched.path(), 'utf8')).toBe('one\r\ntwo\n\x1b[1mthree');
  await page.getByRole('button', { name: 'Full view' }).click();
  expect((await log(page).boundingBox())?.width).toBeGreaterThan(1200);
  await page.keyboard.press('Escape');
  expect((await log(page).boundingBox())?.width).toBeLessThan(1100);
});

test('of many matches the newest comes first, and Enter does not wait for the answer', async ({
  page,
  api,
}) => {
  const job = await api.finished({
    name: fresh('matches'),
    command: 'for i in $(seq 7001); do echo "loss $i"; done',
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('loss 7001');
  const box = page.getByRole('textbox', { name: 'Search this log' });
  await box.fill('loss');
  await box.press('Enter');
  await expect(page.getByText('1 of 5000+')).toBeVisible();
  await expect(log(page)).toContainText('loss 7001');
  await page.getByRole('button', { name: 'Later match' }).click();
  await expect(page.getByText('1 of 5000+')).toBeVisible();
  await box.fill('loss 12');
  await box.press('Enter');
  await expect(log(page)).toContainText('loss 1299');
  await expect(page.getByText('1 of 111')).toBeVisible();
});

test('a log goes on being followed in the full view and in a taller window', async ({ page, api }) => {
  const job = await api.submit({
    name: fresh('taller'),
    command: 'seq 300; n=0; while true; do n=$((n+1)); echo "tick $n"; sleep 0.2; done',
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('tick 2');
  const follows = page.getByRole('button', { name: 'Following' });
  await expect(follows).toBeVisible();
  const seen = async () => Number(/tick (\d+)\D*$/.exec((await log(page).textContent()) ?? '')?.[1]);
  const goesOn = async () => {
    const before = await seen();
    await expect.poll(seen, { timeout: 4000 }).toBeGreaterThan(before + 3);
    await expect(follows).toBeVisible();
    const toBottom = await log(page).evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight);
    expect(toBottom).toBeLessThan(30);
  };
  await page.getByRole('button', { name: 'Full view' }).click();
  await goesOn();
  await page.setViewportSize({ width: 1280, height: 1100 });
  await goesOn();
  await page.getByRole('button', { name: 'Leave full view' }).click();
  await goesOn();
  await log(page).hover();
  await page.mouse.wheel(0, -100);
  await expect(page.getByRole('button', { name: 'Follow', exact: true })).toBeVisible();
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('output is downloaded as an archive', async ({ page, api }) => {
  const job = await api.finished({
    name: fresh('output'),
    command: 'echo model > $FOOTPLATE_OUTPUT_DIR/model.txt',
  });
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'Download' }).click();
  const fetching = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Output' }).click();
  expect((await fetching).suggestedFilename()).toBe(`${job.name}-output.tar.gz`);
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
  await page.getByRole('tab', { name: 'Command' }).click();
  await expect(page.getByText('went on', { exact: true })).toBeVisible();
  await expect(command).toHaveValue(/went on/);
  await page.getByRole('tab', { name: 'Events' }).click();
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
  await page.getByRole('tab', { name: 'Command' }).click();
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
  await expect(page.getByText('There is no such job')).toBeVisible();
});

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
      for (const tab of ['overview', 'logs', 'usage', 'events', 'config', 'exec']) {
        await page.setViewportSize({ width: 1280, height: 800 });
        await page.goto(`/jobs/${job.id}?tab=${tab}`);
        await expect(page.getByRole('tabpanel')).toBeVisible();
        await expectAccessible(page);
        await page.setViewportSize({ width: 390, height: 844 });
        await expectNoSideways(page);
      }
      await api.call('POST', `/jobs/${job.id}/stop`);
    });
  });
}

test('long lines break on a switch that the browser remembers, and by themselves on a phone', async ({
  page,
  api,
}) => {
  const job = await api.finished({
    name: fresh('wide'),
    command: `printf '%0600d\\n' 7; for i in $(seq 300); do echo "line $i"; done; echo the last`,
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('the last');
  const isWide = () => log(page).evaluate((box) => box.scrollWidth > box.clientWidth);
  const switched = page.getByRole('button', { name: 'Break long lines' });
  await expect(switched).toHaveAttribute('aria-pressed', 'false');
  await log(page).evaluate((box) => box.scrollTo(0, 0));
  await expect.poll(isWide).toBe(true);
  await switched.click();
  await expect(switched).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(isWide).toBe(false);
  await log(page).evaluate((box) => box.scrollTo(0, 0));
  const long = log(page).getByText(/^0{300,}7$/);
  const [box, text] = await Promise.all([
    long.evaluate((node) => node.parentElement?.getBoundingClientRect().height),
    long.evaluate((node) => node.getBoundingClientRect().height),
  ]);
  expect(box).toBeGreaterThanOrEqual(Math.floor(text));
  await page.reload();
  await expect(switched).toHaveAttribute('aria-pressed', 'true');
  await expect(log(page)).toContainText('the last');

  await page.evaluate(() => localStorage.removeItem('footplate.wrap'));
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await expect(switched).toHaveAttribute('aria-pressed', 'true');
});

test('lines that break are drawn to their last row, whatever they are written in', async ({ page, api }) => {
  const parts = ['训练损失下降，。！', 'a训练，（）「」', 'ab (c), d. /e-f; ', 'a\t训b\t\t'];
  // Of many lengths: some end right where a row does.
  const lengths = Array.from({ length: 20 }, (_, index) => 85 + index);
  const lines = parts.flatMap((part) => lengths.map((n) => `${part.repeat(30).slice(0, n)}$`));
  const command = `cat <<'END'\n${lines.join('\n')}\nEND`;
  const job = await api.finished({ name: fresh('rows'), command });
  await page.setViewportSize({ width: 700, height: 6000 });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  const switched = page.getByRole('button', { name: 'Break long lines' });
  if ((await switched.getAttribute('aria-pressed')) === 'false') await switched.click();
  await expect(log(page)).toHaveAttribute('data-wrap', 'true');
  const drawn = log(page).locator('div > div > div').filter({ hasText: /\$$/ });
  await expect(drawn).toHaveCount(lines.length);
  const lost = await drawn.evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight));
  expect(lost.length).toBe(0);
});

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
    await expect(page.getByText('已失败：有子任务失败：子任务 main-0 以退出码 3 结束')).toBeVisible();
    const busy = await api.submit({ name: fresh('busy'), command: 'sleep 60', gpus: 3 });
    await api.until(busy.id, 'RUNNING');
    const waits = await api.submit({ name: fresh('waits'), command: 'true', gpus: 3 });
    await page.goto(`/jobs/${waits.id}`);
    await expect(
      page.getByText(/^需要 3 张 GPU；共 4 张，空闲 1 张；改为 1 张 GPU 即可立即启动/).first(),
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
