import { expect, fresh, signIn, test } from './support/bench';

test('a port of a job is opened in the browser, with a page that knows nothing of the platform', async ({
  page,
  context,
  api,
}) => {
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const job = await api.submit({
    name: fresh('page'),
    count: 2,
    command: `[ $FOOTPLATE_TASK = main-1 ] || exec sleep 600
      echo '<h1>from the job</h1>' > index.html; python3 -m http.server --bind 127.0.0.1 ${port}`,
  });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=exec`);
  const choose = async (task: string) => {
    await page.getByRole('combobox', { name: 'Task of the terminal' }).click();
    await page.getByTitle(task, { exact: true }).last().click();
  };
  await choose('main-1');
  await page.getByRole('spinbutton', { name: 'Port' }).fill(String(port));
  const coming = context.waitForEvent('page');
  await page.getByRole('button', { name: 'Open port' }).click();
  const opened = await coming;
  await expect(opened.getByRole('heading', { name: 'from the job' })).toBeVisible();
  expect(new URL(opened.url()).origin).not.toBe(new URL(page.url()).origin);
  expect(opened.url()).not.toContain('ticket');
  // What the console keeps in the browser is not the page's, nor can it call the API.
  expect(await opened.evaluate(() => localStorage.length)).toBe(0);
  const asked = await opened.evaluate(
    (url) => fetch(url, { credentials: 'include' }).then(String, () => 'refused'),
    `${new URL(page.url()).origin}/api/v1/me`,
  );
  expect(asked).toBe('refused');
  await opened.close();
  await choose('main-0');
  const again = context.waitForEvent('page');
  await page
    .getByRole('list', { name: 'Open now' })
    .getByRole('button', { name: String(port) })
    .first()
    .click();
  const same = await again;
  await same.waitForURL(/\/main-1\//);
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('somebody adds a key for SSH to the profile, and removes it', async ({ page, expected }) => {
  expected.push(/422/);
  await signIn(page);
  await page.goto('/profile');
  const field = page.getByLabel('Public key');
  await field.fill('no key');
  await page.getByRole('button', { name: 'Add key' }).click();
  await expect(page.getByText(/must be one line as in a .pub file/)).toBeVisible();
  await field.fill(
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKtra2tra2tra2tra2tra2tra2tra2tra2tra2tra2tr me@laptop',
  );
  await page.getByRole('button', { name: 'Add key' }).click();
  await expect(page.getByText('me@laptop')).toBeVisible();
});
