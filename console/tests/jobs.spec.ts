import {
  expect,
  expectAccessible,
  expectNoSideways,
  fresh,
  signIn,
  signInByForm,
  test,
} from './support/bench';

test.beforeEach(({ page }) => signIn(page));

test('the list shows a job with its queue, user, state and resources', async ({ page, api }) => {
  const job = await api.finished({ name: fresh('listed'), command: 'true', cpus: 0.5 });
  await page.goto('/jobs');
  const row = page.getByRole('row', { name: job.name });
  await expect(row).toContainText('Succeeded');
  await expect(row).toContainText('default');
  await expect(row).toContainText('admin');
  await expect(row).toContainText('0.5 CPUs');
  await row.getByRole('link', { name: job.name }).click();
  await expect(page.getByRole('heading', { level: 1, name: job.name })).toBeVisible();
});

test('a new job and its changes appear without a reload', async ({ page, api }) => {
  await page.goto('/jobs');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  const job = await api.submit({ name: fresh('live'), command: 'sleep 60' });
  const row = page.getByRole('row', { name: job.name });
  await expect(row).toContainText('Running');
  await api.call('POST', `/jobs/${job.id}/stop`);
  await expect(row).toContainText('Stopped');
});

test('after the connection was lost the page says so, and catches up', async ({
  page,
  api,
  context,
  expected,
}) => {
  expected.push(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|network error/);
  await page.goto('/jobs');
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await context.setOffline(true);
  await expect(page.getByText('Reconnecting…')).toBeVisible();
  const job = await api.submit({ name: fresh('missed'), command: 'true' });
  await context.setOffline(false);
  await expect(page.getByRole('row', { name: job.name })).toBeVisible({ timeout: 30_000 });
});

test('two tabs never mix two people', async ({ page, api, context }) => {
  const user = fresh('other');
  await api.call('POST', '/users', { name: user, password: 'a long enough password' });
  await page.goto('/jobs');
  const second = await context.newPage();
  await second.goto('/jobs');
  await second.getByRole('button', { name: 'Account of admin' }).click();
  await second.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(second).toHaveURL(/sign-in/);
  await signInByForm(second, user, 'a long enough password');
  await expect(page.getByRole('button', { name: `Account of ${user}` })).toBeVisible();
});

test('search, filters and sort are kept in the address', async ({ page, api }) => {
  const good = await api.finished({ name: fresh('kept-good'), command: 'true' });
  const bad = await api.finished({ name: fresh('kept-bad'), command: 'exit 3' });
  await page.goto('/jobs');
  await page.getByRole('textbox', { name: 'Search name, description, ID' }).fill('kept-');
  await expect(page).toHaveURL(/search=kept-/);
  await page.getByRole('combobox', { name: 'State' }).click();
  await page.locator('.ant-select-item-option', { hasText: 'Failed' }).click();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(/state=FAILED/);
  await expect(page.getByRole('link', { name: bad.name })).toBeVisible();
  await expect(page.getByRole('link', { name: good.name })).toHaveCount(0);
  await page.getByRole('columnheader', { name: 'Name' }).getByRole('link').click();
  await expect(page).toHaveURL(/sort=name/);
  await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute('aria-sort', 'ascending');
  await page.reload();
  await expect(page.getByRole('link', { name: bad.name })).toBeVisible();
  await expect(page.getByRole('link', { name: good.name })).toHaveCount(0);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(page.getByRole('link', { name: good.name })).toBeVisible();
});

test('a search without result says so and offers the way out', async ({ page }) => {
  await page.goto('/jobs?search=nothing-is-called-this');
  await expect(page.getByText('No job matches these filters')).toBeVisible();
});

test('many jobs are stopped and deleted at once, and come back from the trash', async ({ page, api }) => {
  const stem = fresh('bulk');
  const jobs = await Promise.all(
    [1, 2, 3].map((n) => api.submit({ name: `${stem}-${n}`, command: 'sleep 60' })),
  );
  await page.goto(`/jobs?search=${stem}`);
  await expect(page.getByRole('row')).toHaveCount(4);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('3 jobs are being stopped')).toBeVisible();
  for (const job of jobs)
    await expect(
      page.getByRole('row', { name: job.name }).getByText('Stopped', { exact: true }),
    ).toBeVisible();

  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No job matches these filters')).toBeVisible();
  await page.getByText('3 jobs moved to the trash').getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByText('3 jobs restored')).toBeVisible();
  await expect(page.getByRole('row')).toHaveCount(4);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('No job matches these filters')).toBeVisible();

  await page.goto(`/jobs?trash=true&search=${stem}`);
  await expect(page.getByRole('heading', { name: 'Trash' })).toBeVisible();
  await page.getByRole('checkbox', { name: `Select ${stem}-1` }).check();
  await page.getByRole('button', { name: 'Restore' }).click();
  await expect(page.getByRole('row')).toHaveCount(3);
  await page.goto(`/jobs?search=${stem}`);
  await expect(page.getByRole('row', { name: `${stem}-1` })).toBeVisible();
});

test('a question about many says which are over already; those are run again at once', async ({
  page,
  api,
}) => {
  const stem = fresh('mixed');
  for (const n of [1, 2]) await api.finished({ name: `${stem}-over-${n}x`, command: 'true' });
  const living = await api.submit({ name: `${stem}-lives`, command: 'sleep 60' });
  await page.goto(`/jobs?search=${stem}`);
  await expect(page.getByRole('row')).toHaveCount(4);
  await page.getByRole('checkbox', { name: 'Select all on this page' }).check();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Stop ${living.name}?` });
  await expect(dialog).toContainText('2 of the selected jobs have ended already.');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Run again' }).click();
  await page
    .getByRole('dialog', { name: 'Run 2 jobs again?' })
    .getByRole('button', { name: 'Run again' })
    .click();
  await expect(page.getByText('2 jobs submitted again')).toBeVisible();
  await expect(page.getByRole('row', { name: `${stem}-over-1x-2` })).toBeVisible();
  await api.call('POST', `/jobs/${living.id}/stop`);
});

test('columns are chosen and remembered; a row takes 44 px, and shows which attempt it is', async ({
  page,
  api,
}) => {
  const job = await api.finished({
    name: `${fresh('column')}-${'x'.repeat(40)}`,
    command: 'exit 1',
    retry: 1,
    tags: ['seen'],
  });
  await page.goto(`/jobs?search=${job.name}`);
  const row = page.getByRole('row', { name: job.name });
  await expect(row).toContainText('attempt 2 · admin · default');
  expect((await row.boundingBox())?.height).toBeLessThanOrEqual(48);
  await expect(page.getByRole('columnheader', { name: 'Priority' })).toHaveCount(0);
  await page.getByRole('button', { name: 'Columns' }).click();
  await page.getByRole('checkbox', { name: 'ID', exact: true }).check();
  await page.getByRole('checkbox', { name: 'Tags' }).check();
  await expect(row).toContainText(job.id);
  await page.reload();
  await expect(row).toContainText(job.id);
  await expect(row).toContainText('seen');
  await expectNoSideways(page);
});

test('filters are saved under a name, and found again', async ({ page, api }) => {
  await api.finished({ name: fresh('viewed'), command: 'exit 1' });
  await page.goto('/jobs?state=FAILED&sort=name');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'Save these filters…' }).click();
  await page.getByLabel('Name of the view').fill('What failed');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.goto('/jobs');
  await page.getByRole('button', { name: 'Views' }).click();
  await page.getByRole('menuitem', { name: 'What failed' }).click();
  await expect(page).toHaveURL(/state=FAILED/);
  await expect(page).toHaveURL(/sort=name/);
  await page.getByRole('button', { name: 'What failed' }).click();
  await page.getByRole('menuitem', { name: 'Remove view What failed' }).click();
  await expect(page.getByRole('button', { name: 'Views' })).toBeVisible();
});

test('pages go on and back by the keys of their last jobs', async ({ page, api }) => {
  const stem = fresh('paged');
  for (let n = 0; n < 51; n += 1) await api.submit({ name: `${stem}-${n}`, command: 'true' });
  await page.goto(`/jobs?search=${stem}`);
  await expect(page.getByRole('row')).toHaveCount(51);
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('row')).toHaveCount(2);
  await expect(page.getByRole('row', { name: `${stem}-0` })).toBeVisible();
  await page.getByRole('button', { name: 'Previous' }).click();
  await expect(page.getByRole('row')).toHaveCount(51);

  const last = page.getByRole('checkbox', { name: `Select ${stem}-1`, exact: true });
  await last.check();
  await api.submit({ name: `${stem}-51`, command: 'true' });
  await expect(page.getByRole('row', { name: `${stem}-51` })).toBeVisible();
  await expect(last).toHaveCount(0);
  await expect(page.getByText('1 selected')).toBeVisible();
  await expect(page.getByText('one of them on another page')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(last).toBeChecked();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(last).toHaveCount(0);
});

test('the keyboard leads from anywhere to a job', async ({ page, api }) => {
  const job = await api.finished({ name: fresh('keyboard'), command: 'true' });
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible();
  await page.keyboard.press('/');
  await page.keyboard.type(job.name);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`search=${job.name}`));
  const link = page.getByRole('link', { name: job.name });
  await expect(link).toBeVisible();
  for (let n = 0; n < 60 && !(await link.evaluate((node) => node === document.activeElement)); n += 1) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: job.name })).toBeVisible();
});

for (const scheme of ['light', 'dark'] as const) {
  test(`the list is accessible and fits, ${scheme}`, async ({ page, api }) => {
    await api.finished({ name: fresh('seen'), command: 'exit 1' });
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto('/jobs');
    await expect(page.getByRole('row').nth(1)).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expect(page.getByRole('listitem').first()).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
  });
}
