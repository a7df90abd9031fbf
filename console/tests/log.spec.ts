import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { expect, fresh, signIn, test } from './support/bench';

test.beforeEach(({ page }) => signIn(page));

const log = (page: Page) => page.getByRole('log');

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
  await expect(page.getByText('1 found', { exact: true })).toBeVisible();
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
  expect(fetched.suggestedFilename()).toBe(`${job.name}-main-0-attempt-1.log`);
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
  await expect(page.getByText('1 from the end, of 5000+')).toBeVisible();
  await expect(log(page)).toContainText('loss 7001');
  await page.getByRole('button', { name: 'Later match' }).click();
  await expect(page.getByText('1 from the end, of 5000+')).toBeVisible();
  await box.fill('loss 12');
  await box.press('Enter');
  await expect(log(page)).toContainText('loss 1299');
  await expect(page.getByText('111 of 111')).toBeVisible();
  const current = log(page).locator('div', { has: page.locator('mark[data-current="true"]') });
  await expect(current.last()).toHaveText('loss 1299');
  await page.getByRole('button', { name: 'Earlier match' }).click();
  await expect(current.last()).toHaveText('loss 1298');
  await expect(page.getByText('110 of 111')).toBeVisible();
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
  const switched = page.getByRole('button', { name: 'Wrap long lines' });
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
  const switched = page.getByRole('button', { name: 'Wrap long lines' });
  if ((await switched.getAttribute('aria-pressed')) === 'false') await switched.click();
  await expect(log(page)).toHaveAttribute('data-wrap', 'true');
  const drawn = log(page).locator('div > div > div').filter({ hasText: /\$$/ });
  await expect(drawn).toHaveCount(lines.length);
  const lost = await drawn.evaluateAll((all) => all.filter((one) => one.scrollHeight > one.clientHeight));
  expect(lost.length).toBe(0);
});

/** The time before a line and the moment that the task printed of itself, in seconds of the day. */
async function stamped(page: Page, line: string): Promise<{ stamp: number; said: number }> {
  const text = (await log(page).locator('div', { hasText: line }).last().textContent()) ?? '';
  const [stamp = '', said = ''] = text.match(/\d\d:\d\d:\d\d/g) ?? [];
  const seconds = (time: string) => time.split(':').reduce((sum, part) => 60 * sum + Number(part), 0);
  return { stamp: seconds(stamp), said: seconds(said) };
}

test('times stand before the lines on a switch, exact to about a second', async ({ page, api }) => {
  const job = await api.submit({
    name: fresh('stamped'),
    env: { TZ: await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone) },
    command: 'for n in 1 2 3 4 5 6; do echo "tick $n at $(date +%T)"; sleep 1; done; sleep 600',
  });
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await expect(log(page)).toContainText('tick 6', { timeout: 15_000 });
  const times = page.getByRole('button', { name: 'Show times' });
  await times.click();
  await expect(times).toHaveAttribute('aria-pressed', 'true');
  await expect.poll(async () => (await stamped(page, 'tick 5')).said).toBeGreaterThan(0);
  for (const line of ['tick 1', 'tick 5']) {
    const { stamp, said } = await stamped(page, line);
    expect(Math.abs(stamp - said), line).toBeLessThanOrEqual(2);
  }
  await page.reload();
  await expect(times).toHaveAttribute('aria-pressed', 'true');
  await times.click();
  await expect(log(page).getByText(/^\d\d:\d\d:\d\d\s*$/)).toHaveCount(0);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('lines of several tasks have their times too, those from before and those that come', async ({
  page,
  api,
}) => {
  const job = await api.call<{ id: string }>('POST', '/jobs', {
    name: fresh('stamped-gang'),
    env: { TZ: await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone) },
    roles: [
      {
        name: 'worker',
        count: 2,
        command:
          'n=0; while true; do n=$((n+1)); echo "w$FOOTPLATE_TASK_INDEX tick $n. at $(date +%T)"; sleep 1; done',
        cpus: 0.1,
        memory: '64MB',
      },
    ],
  });
  await api.until(job.id, 'RUNNING');
  await expect
    .poll(
      async () =>
        (await api.call<{ items: unknown[] }>('GET', `/jobs/${job.id}/logs/times?end=99`)).items.length,
    )
    .toBeGreaterThan(2);
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await page.getByRole('button', { name: 'Show times' }).click();
  await expect(log(page)).toContainText('w1 tick 8.', { timeout: 15_000 });
  for (const line of ['w0 tick 1.', 'w1 tick 8.']) {
    const { stamp, said } = await stamped(page, line);
    expect(Math.abs(stamp - said), line).toBeLessThanOrEqual(2);
  }
  await api.call('POST', `/jobs/${job.id}/stop`);
});
