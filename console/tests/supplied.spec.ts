import { Buffer } from 'node:buffer';
import { expect, fresh, signIn, test } from './support/bench';
import { scalarEvent } from './support/eventFile';

// What is not installed is installed first, from the index of packages.
test.setTimeout(300_000);
const SUPPLIED_MS = 200_000;

test('JupyterLab that the task lacks runs a cell with the Python and the files of the task', async ({
  page,
  context,
  api,
}) => {
  const job = await api.submit({
    name: fresh('lab'),
    command: 'echo "def answer(): return 6 * 7" > mine.py; sleep 600',
    cpus: 2,
    memory: '2GB',
  });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  await page.goto(`/jobs/${job.id}?tab=exec`);
  const coming = context.waitForEvent('page');
  await page.getByRole('button', { name: 'JupyterLab', exact: true }).click();
  const lab = await coming;
  await lab.waitForURL(/\/jupyter\/lab/, { timeout: SUPPLIED_MS });
  await lab.locator('.jp-LauncherCard[data-category="Notebook"]').first().click({ timeout: 60_000 });
  await lab.locator('.jp-Notebook-ExecutionIndicator[data-status=idle]').waitFor({ timeout: 60_000 });
  // What is typed while the notebook still arranges itself may be lost: then once more.
  await expect(async () => {
    await lab.locator('.jp-Notebook .cm-content').first().click();
    await lab.keyboard.press('ControlOrMeta+a');
    await lab.keyboard.insertText('import os, mine; print(mine.answer(), os.environ["FOOTPLATE_ROLE"])');
    await lab.keyboard.press('Shift+Enter');
    await expect(lab.locator('.jp-OutputArea-output').first()).toContainText('42 main');
  }).toPass({ timeout: 90_000 });
  // None of the platform's cookies or tokens is in what the notebook can read of the browser.
  expect(await lab.evaluate(() => document.cookie)).not.toContain('footplate');
  await api.call('POST', `/jobs/${job.id}/stop`);
});

test('TensorBoard shows a scalar of jobs that are over, one and two together', async ({
  page,
  context,
  api,
}) => {
  const events = Buffer.concat([1, 2, 3].map((step) => scalarEvent(step, 'loss', 1 / step)));
  const command = `echo ${events.toString('base64')} | base64 -d > $FOOTPLATE_OUTPUT_DIR/events.out.tfevents.1.x`;
  const jobs = [
    await api.finished({ name: fresh('run'), command }),
    await api.finished({ name: fresh('run'), command }),
  ];
  await signIn(page);
  await page.goto(`/jobs/${jobs[0]?.id}?tab=metrics`);
  let coming = context.waitForEvent('page');
  await page.getByRole('button', { name: 'TensorBoard' }).click();
  let board = await coming;
  await board.waitForURL(/\/tensorboard\//, { timeout: SUPPLIED_MS });
  await expect(board.locator('scalar-card').first()).toContainText('loss', { timeout: 60_000 });
  await board.close();

  await page.goto(`/compare?jobs=${jobs.map(({ id }) => id).join(',')}`);
  coming = context.waitForEvent('page');
  await page.getByRole('button', { name: 'TensorBoard' }).click();
  board = await coming;
  await board.waitForURL(/\/tensorboard\//, { timeout: SUPPLIED_MS });
  for (const { name } of jobs)
    await expect(board.getByText(name, { exact: true }).first()).toBeVisible({ timeout: 60_000 });
});
