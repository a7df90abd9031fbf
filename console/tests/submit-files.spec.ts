import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { expect, fresh, signIn, test } from './support/bench';
import { confirm, type Detail, editor, name, open, review, step, write } from './support/form';

test('a text from before is not lost when a part of the page does not come', async ({ page, expected }) => {
  expected.push(/Failed to load resource|dynamically imported module/);
  await open(page);
  await write(page, 'name: typed-before\n# a comment\n');
  await expect(name(page)).toHaveValue('typed-before');
  const part = /\/assets\/text-[^/]*\.js/;
  await page.route(part, (route) => route.abort());
  await page.reload();
  const again = page.getByRole('button', { name: 'Try again' });
  await expect(again).toBeVisible({ timeout: 20_000 });
  await page.unroute(part);
  await again.click();
  await expect(name(page)).toHaveValue('typed-before');
  await expect(editor(page)).toContainText('# a comment');
});

test('form and text change each other, in YAML and in JSON', async ({ page }) => {
  await open(page);
  await name(page).fill('two-views');
  await expect(editor(page)).toContainText('name: two-views');
  await write(page, 'name: from-text\n# a comment\ncommand: echo hi\nextras: {odd: [1, 2]}\n');
  await expect(name(page)).toHaveValue('from-text');
  await name(page).fill('from-form');
  await expect(editor(page)).toContainText('name: from-form');
  await expect(editor(page)).toContainText('# a comment');
  await expect(editor(page)).toContainText('odd');
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('button', { name: 'Drop the comments' }).click();
  await expect(editor(page)).toContainText('"name": "from-form"');
  await write(page, '{"name": "from-json", "command": "echo hi"}');
  await expect(name(page)).toHaveValue('from-json');
});

test('a text that cannot be read says the line, and the form waits', async ({ page }) => {
  await open(page);
  await name(page).fill('kept');
  await write(page, 'name: broken\ncommand: "no end');
  await expect(page.getByText('Line 2: a closing quote or bracket is missing')).toBeVisible();
  await expect(name(page)).toHaveValue('kept');
  await expect(name(page)).toBeDisabled();
  await expect(page.getByText('Fix the job file first')).toBeVisible();
  await expect(page.getByText('Checking…')).toHaveCount(0);
  await page.getByRole('button', { name: 'Back to that text' }).click();
  await expect(name(page)).toBeEnabled();
  await expect(editor(page)).toContainText('name: kept');
});

test('a job edited as JSON runs as it is written', async ({ page, api }) => {
  const job = fresh('by-json');
  await open(page);
  await page.getByText('JSON', { exact: true }).click();
  await write(page, JSON.stringify({ name: job, command: 'echo json', cpus: 0.1, memory: '64MB' }, null, 2));
  await expect(name(page)).toHaveValue(job);
  await api.until(await confirm(page), 'SUCCEEDED');
});

test('comments of an imported file stay, and its fields where they are', async ({ page }) => {
  const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'commented.yaml');
  const text = 'command: echo # what it runs\n# and its name\nname: commented\n';
  writeFileSync(file, text);
  await open(page);
  await page.locator('input[type=file][accept*=yaml]').setInputFiles(file);
  await expect(name(page)).toHaveValue('commented');
  await expect(editor(page)).toHaveText(text.replaceAll('\n', ''));
});

test('what is wrong with JSON is told in words of JSON', async ({ page }) => {
  await open(page);
  await page.getByText('JSON', { exact: true }).click();
  await write(page, '{\n  "name": "x"\n}\n}');
  await expect(page.getByText(/^Line 4: this is not valid JSON/)).toBeVisible();
  await expect(page.getByText(/YAML stream/)).toHaveCount(0);
});

test('an imported file fills the form, and its problems are named by field', async ({ page, api }) => {
  const folder = mkdtempSync(join(tmpdir(), 'import-'));
  const job = fresh('imported');
  const bad = join(folder, 'bad.yaml');
  writeFileSync(bad, 'name: x y\ncommand: echo\ncpus: 5000\nretries: 3\n');
  const good = join(folder, 'good.json');
  writeFileSync(good, JSON.stringify({ name: job, command: 'echo imported', cpus: 0.1, memory: '64MB' }));
  await open(page);
  const input = page.locator('input[type=file][accept*=yaml]');
  await input.setInputFiles(bad);
  await expect(name(page)).toHaveValue('x y');
  const panel = page.getByRole('complementary').last();
  await expect(panel.getByText('3 fields to fix')).toBeVisible();
  await expect(panel).toContainText('There is no field retries');
  await panel.getByRole('button', { name: 'CPUs per task' }).click();
  await expect(page.getByLabel('CPUs per task', { exact: true })).toBeFocused();
  await input.setInputFiles(good);
  await expect(panel.getByText('Yes, immediately')).toBeVisible();
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
});

test('a file that is no job file changes nothing', async ({ page }) => {
  const file = join(mkdtempSync(join(tmpdir(), 'import-')), 'broken.yaml');
  writeFileSync(file, 'name: [');
  await open(page);
  await name(page).fill('stays');
  await page.locator('input[type=file][accept*=yaml]').setInputFiles(file);
  await expect(page.getByText('broken.yaml was not imported')).toBeVisible();
  await expect(name(page)).toHaveValue('stays');
});

test('an exported file is the text that stands there', async ({ page }) => {
  await open(page);
  await name(page).fill('taken-out');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe('taken-out.yaml');
  expect(readFileSync(await download.path(), 'utf8')).toBe('name: taken-out\n');
});

test('a folder is packed in the browser, sent, and found by the task', async ({ page, api }) => {
  const folder = join(mkdtempSync(join(tmpdir(), 'code-')), 'project');
  mkdirSync(join(folder, 'lib'), { recursive: true });
  mkdirSync(join(folder, '__pycache__'));
  writeFileSync(join(folder, 'run.sh'), '#!/bin/sh\ncat lib/word.txt\nls -A\n');
  writeFileSync(join(folder, 'lib', 'word.txt'), 'carried\n');
  writeFileSync(join(folder, '__pycache__', 'x.pyc'), 'x');
  const job = fresh('code');
  await open(page);
  await name(page).fill(job);
  await page.getByText('Professional', { exact: true }).click();
  await page.locator('input[type=file][webkitdirectory]').setInputFiles(folder);
  await expect(page.getByText(/sha256:/).first()).toBeVisible();
  await expect(page.getByText('project', { exact: true })).toBeVisible();
  await page.getByLabel('Command', { exact: true }).fill('./run.sh');
  await page.getByLabel('CPUs per task', { exact: true }).fill('0.1');
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
  await page.goto(`/jobs/${id}?tab=logs`);
  await expect(page.getByText('carried')).toBeVisible();
  await expect(page.getByText('__pycache__')).toHaveCount(0);
});

test('files that are dropped are packed and sent too', async ({ page }) => {
  await open(page);
  await page.getByText('Professional', { exact: true }).click();
  const data = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(['print(1)'], 'train.py'));
    return transfer;
  });
  const zone = page.getByRole('group', { name: 'Code' });
  await zone.dispatchEvent('dragover', { dataTransfer: data });
  await zone.dispatchEvent('drop', { dataTransfer: data });
  await expect(page.getByText('train.py', { exact: true })).toBeVisible();
  await expect(editor(page)).toContainText('upload: sha256:');
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(editor(page)).not.toContainText('upload');
});

/** Hold back code that is sent, until the test lets it go. */
async function holdCode(page: Page): Promise<() => Promise<void>> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/v1/code', async (route) => {
    await held;
    // A request that was given up has nowhere to go.
    await route.continue().catch(() => undefined);
  });
  return async () => release();
}

const chooseCode = (page: Page) =>
  page
    .locator('input[type=file]:not([webkitdirectory]):not([accept])')
    .setInputFiles({ name: 'word.txt', mimeType: 'text/plain', buffer: Buffer.from('carried') });

test('a job waits for its code, whichever section is looked at', async ({ page, api }) => {
  const release = await holdCode(page);
  await open(page);
  await write(page, `name: ${fresh('waits')}\ncommand: cat word.txt\ncpus: 0.1\n`);
  await step(page, 'Directories').click();
  await chooseCode(page);
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  const waits = page.getByRole('button', { name: /^Waits for the upload/ });
  await expect(waits).toBeDisabled();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(waits).toBeDisabled();
  await page.getByRole('button', { name: 'Back' }).click();
  await expect(page.getByRole('button', { name: 'Stop', exact: true })).toBeVisible();
  await page.getByRole('link', { name: 'Dashboard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await release();
  await api.until(await confirm(page), 'SUCCEEDED');
});

test('code that comes too late is in no new draft', async ({ page }) => {
  const release = await holdCode(page);
  await open(page);
  await page.getByText('Professional', { exact: true }).click();
  await name(page).fill('first');
  await chooseCode(page);
  await expect(page.getByRole('button', { name: /^Waits for the upload/ })).toBeVisible();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start over' }).click();
  await release();
  await expect(review(page)).toBeVisible();
  await name(page).fill('second');
  await expect(editor(page)).toContainText('name: second');
  await expect(editor(page)).not.toContainText('upload');
});

test('code that did not arrive holds the job back until somebody agrees', async ({ page, expected }) => {
  expected.push(/ERR_FAILED/);
  await page.route('**/api/v1/code', (route) => route.abort());
  await open(page);
  await write(page, `name: ${fresh('codeless')}\ncommand: echo\n`);
  await step(page, 'Directories').click();
  await chooseCode(page);
  await expect(page.locator('#field-code-fault')).toContainText('The code was not uploaded');
  await expect(review(page)).toBeDisabled();
  await page.getByRole('button', { name: 'Continue without code' }).click();
  await expect(review(page)).toBeEnabled();
});

test('a clone fills the form and proposes a name that is free', async ({ page, api }) => {
  const stem = `${fresh('origin')}x`;
  const fields = { command: 'echo clone', tags: ['x'], env: { A: '1' } };
  const origin = await api.finished({ name: stem, ...fields });
  await api.finished({ name: `${stem}-2`, ...fields });
  await signIn(page);
  await page.goto(`/submit?clone=${origin.id}`);
  await expect(name(page)).toHaveValue(`${stem}-3`);
  await expect(editor(page)).toContainText('command: echo clone');
  await expect(editor(page)).toContainText('A: "1"');
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
  const copy = await api.call<Detail>('GET', `/jobs/${id}`);
  const first = await api.call<Detail>('GET', `/jobs/${origin.id}`);
  expect({ ...copy.config, name: '' }).toEqual({ ...first.config, name: '' });
});

test('a copy has a draft of its own, and what was typed before waits', async ({ page, api }) => {
  const origin = await api.finished({ name: `${fresh('begun')}x`, command: 'echo original' });
  await open(page);
  await name(page).fill('my-own-work');
  await expect(editor(page)).toContainText('my-own-work');
  await page.goto(`/jobs/${origin.id}`);
  await page.getByRole('link', { name: 'Clone' }).click();
  await expect(editor(page)).toContainText('echo original');
  await name(page).fill('edited-copy');
  await expect(editor(page)).toContainText('edited-copy');
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: origin.name })).toBeVisible();
  await page.getByRole('link', { name: 'Clone' }).click();
  await expect(name(page)).toHaveValue('edited-copy');
  await page.reload();
  await expect(name(page)).toHaveValue('edited-copy');
  await expect(page.getByText(`Your changes to the copy of ${origin.name} are still here.`)).toBeVisible();
  await page.getByRole('link', { name: 'Back to the draft that you began before' }).click();
  await expect(name(page)).toHaveValue('my-own-work');
  await page.goBack();
  await expect(name(page)).toHaveValue('edited-copy');
  await page.getByRole('button', { name: 'Copy the job anew' }).click();
  await expect(name(page)).toHaveValue(`${origin.name}-2`);
});

const PAI_V2 = (job: string) => `protocolVersion: 2
name: ${job}
type: job
prerequisites: [{type: dockerimage, name: img, uri: "busybox:1"}]
taskRoles:
  train:
    dockerImage: img
    resourcePerInstance: {cpu: 1, memoryMB: 64, gpu: 0}
    commands: ["echo hi"]
extras: {com.microsoft.pai.runtimeplugin: [{plugin: ssh}]}
`;

test('a job file of another system fills the form, and what became of it is told', async ({ page }) => {
  await open(page);
  const job = fresh('from-pai');
  const pai = join(mkdtempSync(join(tmpdir(), 'foreign-')), 'pai.yaml');
  writeFileSync(pai, PAI_V2(job));
  await page.locator('input[type=file][accept*=yaml]').setInputFiles(pai);
  const dialog = page.getByRole('dialog', { name: 'pai.yaml converted' });
  await expect(dialog).toContainText('This is an OpenPAI v2 job file');
  await expect(dialog).toContainText("the plug-in 'ssh': people come in by the server's SSH gateway");
  await expect(dialog).toContainText('`taskRoles.*.instances` became `roles[].count`');
  await dialog.getByRole('button', { name: 'OK' }).click();
  await expect(name(page)).toHaveValue(job);
  await expect(editor(page)).toContainText('image: busybox:1');
});

const LOOK = '  echo imported';
const OTHERS: Record<string, { file: string; title: string; text: (job: string) => string; told: string }> = {
  v1: {
    file: 'job.json',
    title: 'This is an OpenPAI v1 job file',
    text: (job) =>
      JSON.stringify({
        jobName: job,
        image: 'busybox:1',
        taskRoles: [{ name: 'main', memoryMB: 128, command: LOOK }],
      }),
    told: '`jobName` became `name`',
  },
  ffdl: {
    file: 'manifest.yml',
    title: 'This is an FfDL manifest',
    text: (job) => `name: ${job}
cpus: 0.5
memory: 128MB
data_stores: [{id: a, type: mount_cos, training_data: {container: no-such}, connection: {}}]
framework: {name: busybox, version: "1", command: "${LOOK}"}
`,
    told: 'no-such',
  },
  prophecis: {
    file: 'manifest.yaml',
    title: 'This is a Prophecis manifest',
    text: (job) => `name: ${job}
cpus: 0.5
memory: 128Mib
namespace: default
code_selector: codeFile
job_type: Local
data_stores: [{id: a, type: mount_volume, training_data: {container: b}, training_results: {container: c},
  connection: {type: host_mount, name: h, path: /nowhere}}]
framework: {name: busybox, version: "1", command: "${LOOK}"}
`,
    told: '/nowhere/b',
  },
};

test('files of every other system fill the form', async ({ page }) => {
  await open(page);
  const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
  for (const { file, title, text, told } of Object.values(OTHERS)) {
    const job = fresh('from-elsewhere');
    writeFileSync(join(folder, file), text(job));
    await page.locator('input[type=file][accept*=yaml]').setInputFiles(join(folder, file));
    const dialog = page.getByRole('dialog', { name: `${file} converted` });
    await expect(dialog).toContainText(title);
    await expect(dialog).toContainText(told);
    await dialog.getByRole('button', { name: 'OK' }).click();
    await expect(name(page)).toHaveValue(job);
    await expect(editor(page)).toContainText('echo imported');
  }
});

test('a pasted batch script is met by its name, converted, submitted, and kept with the job', async ({
  page,
  api,
}) => {
  await open(page);
  const script = '#!/bin/bash\n#SBATCH --job-name=pasted\n#SBATCH --mem=64M\necho from a script\n';
  await write(page, script);
  await expect(page.getByText('This is a Slurm batch script, not a Footplate job file')).toBeVisible();
  await expect(page.getByText('did you mean')).toHaveCount(0);
  await page.getByRole('button', { name: 'Convert', exact: true }).click();
  await page.getByRole('button', { name: 'OK' }).click();
  await expect(name(page)).toHaveValue('pasted');
  const renamed = fresh('renamed');
  await name(page).fill(renamed);
  const id = await confirm(page);
  expect((await api.call<Detail>('GET', `/jobs/${id}`)).name).toBe(renamed);
  expect(await api.call('GET', `/jobs/${id}/original`)).toEqual({ dialect: 'sbatch', text: script });
});

test('what another system would refuse is refused with its field, and the form stays', async ({
  page,
  expected,
}) => {
  expected.push(/Failed to load resource/);
  await open(page);
  await name(page).fill('kept');
  const bad = join(mkdtempSync(join(tmpdir(), 'foreign-')), 'bad.json');
  writeFileSync(bad, JSON.stringify({ jobName: 'x y', image: 'i', taskRoles: [] }));
  await page.locator('input[type=file][accept*=yaml]').setInputFiles(bad);
  await expect(page.getByText('bad.json was not imported')).toBeVisible();
  await expect(page.getByText(/jobName: 'x y' is not allowed/i)).toBeVisible();
  await expect(name(page)).toHaveValue('kept');
});
