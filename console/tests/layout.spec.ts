import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

test('selected jobs do not cover the headings, also further down the list', async ({ page, api }) => {
  const stem = fresh('many');
  await page.setViewportSize({ width: 1280, height: 480 });
  for (let i = 0; i < 12; i += 1)
    await api.submit({ name: `${stem}-${i}`, command: 'true', queue: 'default' });
  await signIn(page);
  await page.goto(`/jobs?search=${stem}`);
  await page.getByLabel(`Select ${stem}-11`).check();
  const bar = page.getByText('1 selected').locator('..');
  const heading = page.getByRole('columnheader', { name: 'Name' });
  const [bottom, top] = [await bar.boundingBox(), await heading.boundingBox()];
  expect((bottom?.y ?? 0) + (bottom?.height ?? 0)).toBeLessThanOrEqual((top?.y ?? 0) + 1);
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, 400);
  // It stays in sight, right below the header.
  await expect.poll(async () => Math.round((await bar.boundingBox())?.y ?? 0)).toBe(56);
});

test('a long name is cut, and everything else stays in sight', async ({ page, api }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const name = `${fresh('long')}-${'x'.repeat(180)}`;
  const job = await api.finished({ name, command: 'exit 3' });
  await signIn(page);
  await page.goto(`/jobs?search=${job.name}`);
  const link = page.getByRole('link', { name });
  await expect(link).toHaveAttribute('title', name);
  const list = page.getByRole('table');
  const overflow = await list.evaluate((table) => {
    const { scrollWidth = 0, clientWidth = 0 } = table.parentElement ?? {};
    return scrollWidth - clientWidth;
  });
  expect(overflow).toBeLessThanOrEqual(0);
  await expect(page.getByRole('columnheader', { name: 'Run time' })).toBeInViewport({ ratio: 1 });
});

test('coloured lines can be read in both themes, inverse and struck out are drawn', async ({ page, api }) => {
  const codes = [
    '41',
    '42',
    '43',
    '44',
    '46',
    '47',
    '7',
    '9',
    '31;7',
    '38;5;226',
    '38;5;17',
    '48;5;196',
    '38;2;250;250;200',
    '38;2;10;10;40',
    '33;47',
    '2',
  ];
  const command = codes.map((code) => `printf '\\033[${code}mcode ${code}\\033[0m\\n'`).join('\n');
  const job = await api.finished({ name: fresh('colours'), command });
  await signIn(page);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto(`/jobs/${job.id}?tab=logs`);
    await expect(page.getByText('code 48;5;196')).toBeVisible();
    await expectAccessible(page);
  }
  await expect(page.getByText('code 9', { exact: true })).toHaveCSS('text-decoration-line', 'line-through');
});

test('all logs come as one file, and the filter says how far it looks', async ({ page, api }) => {
  const job = await api.finished({
    name: fresh('gang'),
    count: 2,
    command: 'echo said by $FOOTPLATE_TASK_INDEX',
  });
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=logs`);
  await page.getByLabel('Show only lines with…').fill('said');
  await expect(page.getByText(/Filters only the lines shown here: the last \d+ of each task/)).toBeVisible();
  const loading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the complete logs of all tasks in one file' }).click();
  expect((await loading).suggestedFilename()).toBe(`${job.name}-attempt-1.log`);
});

test('tasks that were stopped are not drawn as failed; on a phone they are cards', async ({ page, api }) => {
  const job = await api.submit({ name: fresh('told-to'), command: 'sleep 100' });
  await api.until(job.id, 'RUNNING');
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await expect(page.getByText(/^Exited 1\d\d$/)).toHaveAttribute('data-tone', 'muted');
  await page.setViewportSize({ width: 390, height: 800 });
  await expect(page.getByRole('list', { name: 'Tasks' }).getByText('main-0')).toBeVisible();
  await expectNoSideways(page);
});

test('jobs are filtered by a tag, which stays in sight', async ({ page, api }) => {
  const tag = fresh('tag');
  const job = await api.finished({ name: fresh('tagged'), command: 'true', tags: [tag] });
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('link', { name: tag }).click();
  await expect(page.getByRole('link', { name: job.name })).toBeVisible();
  await expect(
    page.getByRole('search', { name: 'Filters' }).getByTitle(tag, { exact: true }).first(),
  ).toBeVisible();
});
