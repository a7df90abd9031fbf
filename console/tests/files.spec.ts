import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { type Api, expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';
import { scalarEvent } from './support/eventFile';

const MB = 1024 ** 2;

/** A folder of one's own on `home`, opened in the browser. */
async function openFolder(page: Page, api: Api, stem: string): Promise<string> {
  const name = fresh(stem);
  await api.call('POST', '/storages/home/folders', { path: name });
  await signIn(page);
  await page.goto(`/files?storage=home&path=${name}`);
  await expect(page.getByText('This folder is empty')).toBeVisible();
  return name;
}

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });

const menuOf = async (page: Page, name: string, item: string) => {
  await page.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

const chooseFiles = (page: Page) => page.getByLabel('Files…', { exact: true }).first();

interface Sent {
  name: string;
  text: string;
}

async function give(page: Page, ...files: Sent[]): Promise<void> {
  await chooseFiles(page).setInputFiles(
    files.map(({ name, text }) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) })),
  );
}

interface Entries {
  items: { name: string; path: string; size_bytes: number }[];
}

const namesIn = async (api: Api, path: string) =>
  (await api.call<Entries>('GET', `/storages/home/entries?path=${encodeURIComponent(path)}`)).items.map(
    ({ name }) => name,
  );

test('files are uploaded, looked at, downloaded, renamed and deleted', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'files');
  await expectAccessible(page);
  await give(page, { name: 'notes.txt', text: 'learning rate 0.1\n' }, { name: 'b.csv', text: 'a,b\n1,2\n' });
  await expect(row(page, 'notes.txt')).toBeVisible();
  await expect(page.getByText('2 of 2 files')).toBeVisible();
  await page.getByRole('button', { name: 'Close', exact: true }).click();

  await row(page, 'notes.txt').getByRole('link', { name: 'notes.txt' }).click();
  const drawer = page.getByRole('dialog', { name: 'notes.txt' });
  await expect(drawer.getByText('learning rate 0.1')).toBeVisible();
  await expect(drawer.getByText(`home:${folder}/notes.txt`)).toBeVisible();
  await expectAccessible(page);
  const saving = page.waitForEvent('download');
  await drawer.getByRole('button', { name: 'Download' }).click();
  expect(readFileSync(await (await saving).path(), 'utf8')).toBe('learning rate 0.1\n');
  await page.goBack();
  await expect(drawer).toBeHidden();

  await row(page, 'b.csv').getByRole('link', { name: 'b.csv' }).click();
  await expect(page.getByRole('dialog').getByRole('columnheader', { name: 'a' })).toBeVisible();
  await expect(page.getByRole('dialog').getByRole('cell', { name: '2' })).toBeVisible();
  await page.keyboard.press('Escape');

  await menuOf(page, 'b.csv', 'Rename');
  await page.getByRole('dialog').getByLabel('Name').fill('table.csv');
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await expect(row(page, 'table.csv')).toBeVisible();
  await menuOf(page, 'table.csv', 'Delete');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByText('Deleted table.csv')).toBeVisible();
  expect(await namesIn(api, folder)).toEqual(['notes.txt']);
});

test('a name that is taken is replaced, kept beside in a new folder, or left out, as one asks', async ({
  page,
  api,
}) => {
  const folder = await openFolder(page, api, 'taken');
  await give(page, { name: 'a.txt', text: 'first' });
  await expect(row(page, 'a.txt')).toBeVisible();
  await give(page, { name: 'a.txt', text: 'second one' });
  await page.getByRole('dialog').getByText('Keep both').click();
  await expectAccessible(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('link', { name: '2', exact: true }).click();
  await expect(row(page, 'a.txt')).toContainText('10 B');
  await page.getByRole('link', { name: folder }).click();
  await give(page, { name: 'a.txt', text: 'third' });
  await page.getByRole('dialog').getByRole('button', { name: 'Upload' }).click();
  await expect(page.getByText('3 of 3 files')).toBeVisible();
  await page.getByRole('link', { name: 'a.txt' }).click();
  await expect(page.getByRole('dialog').getByText('third')).toBeVisible();
});

test('a folder is dropped whole, and comes back as an archive', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'dropped');
  const local = join(await mkdtemp(join(tmpdir(), 'files-')), 'digits');
  await mkdir(join(local, 'inner'), { recursive: true });
  for (let n = 0; n < 30; n += 1) await writeFile(join(local, 'inner', `${n}.txt`), `number ${n}`);
  await writeFile(join(local, 'labels'), '5\n');
  await page.getByLabel('A folder…').setInputFiles(local);
  await expect(page.getByText('31 of 31 files')).toBeVisible();
  await page.getByRole('link', { name: 'digits', exact: true }).click();
  await page.getByRole('link', { name: 'inner', exact: true }).click();
  await expect(row(page, '29.txt')).toContainText('9 B');
  await page
    .getByRole('navigation', { name: 'Folders on the way' })
    .getByRole('link', { name: folder })
    .click();
  const saving = page.waitForEvent('download');
  await menuOf(page, 'digits', 'Download as .tar.gz');
  expect((await saving).suggestedFilename()).toBe('digits.tar.gz');
});

test('what is dropped on the page is uploaded', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'drop');
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped'], 'dropped.txt'));
    const target = document.querySelector('main table, main [aria-label="Folders on the way"]');
    for (const type of ['dragover', 'drop'])
      target?.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: data }));
  });
  await expect(row(page, 'dropped.txt')).toBeVisible();
  expect(await namesIn(api, folder)).toEqual(['dropped.txt']);
});

async function largeFile(name: string, size: number): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'files-')), name);
  await writeFile(path, Buffer.alloc(size, 'abcdefg'));
  return path;
}

/** Hold back the pieces of uploads from the second on, until it is released. */
async function holdPieces(page: Page): Promise<() => Promise<void>> {
  const isPiece = /\/uploads\/[^/]+\?offset=[1-9]/;
  await page.route(isPiece, () => undefined);
  return () => page.unroute(isPiece);
}

test('a large upload is paused and resumed', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'paused');
  const release = await holdPieces(page);
  await chooseFiles(page).setInputFiles(await largeFile('large.bin', 20 * MB));
  await expect(page.getByRole('listitem').getByText('8 / 20 MB')).toBeVisible();
  await page.getByRole('button', { name: 'Pause large.bin' }).click();
  await expect(page.getByText('paused · 8 / 20 MB')).toBeVisible();
  await expectAccessible(page);
  await release();
  await page.getByRole('button', { name: 'Resume large.bin' }).click();
  await expect(row(page, 'large.bin')).toContainText('20 MB');
  expect(await namesIn(api, folder)).toEqual(['large.bin']);
});

test('an upload that a reload cut goes on with the same file, and not with another', async ({
  page,
  api,
}) => {
  const folder = await openFolder(page, api, 'reload');
  const path = await largeFile('cut.bin', 20 * MB);
  const release = await holdPieces(page);
  await chooseFiles(page).setInputFiles(path);
  await expect(page.getByRole('listitem').getByText('8 / 20 MB')).toBeVisible();
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await release();
  const left = page.getByRole('list', { name: 'Interrupted uploads' }).getByRole('listitem');
  await expect(left.filter({ hasText: `${folder}/cut.bin` })).toContainText('8 / 20 MB');
  const again = page.getByLabel('Choose the file…', { exact: true });
  await again.setInputFiles(await largeFile('cut.bin', 21 * MB));
  await expect(page.getByText('This is not one of the files')).toBeVisible();
  const offsets: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'PATCH') offsets.push(new URL(request.url()).searchParams.get('offset') ?? '');
  });
  await again.setInputFiles(path);
  await expect(row(page, 'cut.bin')).toContainText('20 MB');
  expect(offsets).toEqual([String(8 * MB), String(16 * MB)]);
});

test('an upload goes on by itself when the server was away', async ({ page, api, expected }) => {
  expected.push(/ERR_CONNECTION_RESET|ERR_FAILED/);
  await openFolder(page, api, 'away');
  let n = 0;
  await page.route(/\/uploads\/[^/]+\?offset=/, (route) => (++n === 2 ? route.abort() : route.continue()));
  await chooseFiles(page).setInputFiles(await largeFile('far.bin', 17 * MB));
  await expect(row(page, 'far.bin')).toContainText('17 MB');
  expect(n).toBeGreaterThan(3);
});

test('several are moved and copied at once, also to another storage', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'several');
  await api.call('POST', '/storages/home/folders', { path: `${folder}/into` });
  await give(page, { name: 'one.txt', text: '1' }, { name: 'two.txt', text: '2' });
  await expect(page.getByText('2 of 2 files')).toBeVisible();
  await page.getByRole('checkbox', { name: 'Select one.txt' }).check();
  await page.getByRole('checkbox', { name: 'Select two.txt' }).check();
  await page.getByRole('button', { name: 'Move or copy…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText('It is in this folder already.')).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Move here' })).toBeDisabled();
  await dialog.getByRole('button', { name: 'into' }).click();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Move here' }).click();
  await expect(page.getByText(`Moved 2 items to home:${folder}/into`)).toBeVisible();
  expect(await namesIn(api, `${folder}/into`)).toEqual(['one.txt', 'two.txt']);
  await menuOf(page, 'into', 'Move or copy…');
  await dialog.getByRole('combobox', { name: 'Storage' }).click();
  await page.getByTitle('shared', { exact: true }).click();
  await dialog.getByRole('button', { name: 'Copy here' }).click();
  await expect(page.getByText('Copied into to shared:')).toBeVisible();
  await api.call('DELETE', '/storages/shared/entries?path=into&recursive=true');
});

test('a folder that is made, and one whose name is taken', async ({ page, api, expected }) => {
  expected.push(/409/);
  await openFolder(page, api, 'made');
  for (const isTaken of [false, true]) {
    await page.getByRole('button', { name: 'New folder' }).click();
    await page.getByRole('dialog').getByLabel('Name of the folder').fill('sets');
    await page.getByRole('dialog').getByRole('button', { name: 'Make folder' }).click();
    if (isTaken) await expect(page.getByText(/exists already/)).toBeVisible();
    else await expect(row(page, 'sets')).toBeVisible();
  }
});

test('a large folder has pages', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'many');
  const files = Array.from({ length: 450 }, (_, n) => ({ name: `${1000 + n}.txt`, text: String(n) }));
  await give(page, ...files);
  await expect(page.getByText('450 of 450 files')).toBeVisible();
  await page.goto(`/files?storage=home&path=${folder}`);
  await expect(row(page, '1199.txt')).toBeVisible();
  await expect(row(page, '1200.txt')).toBeHidden();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(row(page, '1200.txt')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(row(page, '1449.txt')).toBeVisible();
  await page.getByRole('button', { name: 'First page' }).click();
  await expect(row(page, '1000.txt')).toBeVisible();
});

test('files are used as data, and as code, of a job', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'used');
  await api.call('POST', '/storages/home/folders', { path: `${folder}/digits` });
  await page.reload();
  await menuOf(page, 'digits', 'Use as data of a job');
  await expect(page.locator('.cm-content')).toContainText(`source: ${folder}/digits`);
  await page.goBack();
  await menuOf(page, 'digits', 'Use as code of a job');
  await expect(page.locator('.cm-content')).toContainText(`path: ${folder}/digits`);
});

test('a file becomes a version of a model', async ({ page, api }) => {
  const folder = await openFolder(page, api, 'weights');
  await give(page, { name: `${folder}.pt`, text: 'weights' });
  await menuOf(page, `${folder}.pt`, 'Register as model');
  const dialog = page.getByRole('dialog', { name: `Register home:${folder}/${folder}.pt as a model` });
  await expect(dialog.getByLabel('Name')).toHaveValue(folder);
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Register' }).click();
  await expect(page.getByText(`Registered version 1 of ${folder}.`)).toBeVisible();
});

test('an image is shown', async ({ page, api }) => {
  await openFolder(page, api, 'image');
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await chooseFiles(page).setInputFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: png }]);
  await page.getByRole('link', { name: 'dot.png' }).click();
  const image = page.getByRole('img', { name: 'The image dot.png' });
  await expect(image).toBeVisible();
  expect(await image.evaluate((drawn: HTMLImageElement) => drawn.naturalWidth)).toBe(1);
});

test('nobody sees the files of somebody else’s home', async ({ page, api, expected }) => {
  expected.push(/404/);
  const folder = await openFolder(page, api, 'private');
  await give(page, { name: 'mine.txt', text: 'mine' });
  await expect(row(page, 'mine.txt')).toBeVisible();
  const other = fresh('other');
  await api.call('POST', '/users', {
    name: other,
    password: 'a long password',
    queues: { default: 'member' },
  });
  await signIn(page, other, 'a long password');
  await page.goto(`/files?storage=home&path=${folder}`);
  await expect(page.getByText('Not found, or not visible to you')).toBeVisible();
  await page.goto('/files');
  await expect(page.getByText('This folder is empty')).toBeVisible();
});

test.describe('on a phone, in Chinese and dark', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark', viewport: { width: 390, height: 844 } });

  test('the page fits', async ({ page, api }) => {
    const name = fresh('phone-with-a-rather-long-name-that-must-break-somewhere');
    await api.call('POST', '/storages/home/folders', { path: `${name}/inner` });
    await signIn(page);
    await page.goto(`/files?storage=home&path=${name}`);
    await expect(page.getByRole('link', { name: 'inner' })).toBeVisible();
    await page
      .getByLabel('文件…', { exact: true })
      .setInputFiles([{ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('甲乙丙') }]);
    await expect(page.getByText('已完成 1 / 1 个文件')).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
    await page.getByRole('link', { name: 'a.txt' }).click();
    await expect(page.getByText('甲乙丙')).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
  });
});

test('what a job has made is browsed under the job', async ({ page, api }) => {
  const name = fresh('maker');
  const job = await api.finished({
    name,
    command:
      'mkdir -p $FOOTPLATE_OUTPUT_DIR/best && echo "step,loss" > $FOOTPLATE_OUTPUT_DIR/best/log.csv && echo 1,0.5 >> $FOOTPLATE_OUTPUT_DIR/best/log.csv',
  });
  await signIn(page);
  await page.goto(`/jobs/${job.id}`);
  await page.getByRole('button', { name: 'Download' }).click();
  await page.getByRole('menuitem', { name: 'Browse files' }).click();
  await expect(page.getByRole('navigation', { name: 'Folders on the way' })).toContainText(name);
  await page.getByRole('link', { name: 'Output', exact: true }).click();
  await page.getByRole('link', { name: 'best' }).click();
  await expectAccessible(page);
  await page.getByRole('link', { name: 'log.csv' }).click();
  await expect(page.getByRole('dialog').getByRole('cell', { name: '0.5' })).toBeVisible();
  await page.keyboard.press('Escape');
  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download log.csv' }).click();
  expect(readFileSync(await (await saving).path(), 'utf8')).toBe('step,loss\n1,0.5\n');
  await page.getByRole('link', { name: 'Job outputs' }).first().click();
  await expect(page.getByRole('link', { name, exact: true })).toBeVisible();
});

test('the event file of a training is shown as curves', async ({ page, api }) => {
  await openFolder(page, api, 'curves');
  const events = [1, 2, 3].map((step) => scalarEvent(step, 'train/loss', 1 / step));
  const name = 'events.out.tfevents.1794880000.node';
  await chooseFiles(page).setInputFiles([
    { name, mimeType: 'application/octet-stream', buffer: Buffer.concat(events) },
  ]);
  await page.getByRole('link', { name }).click();
  await expect(page.getByRole('img', { name: 'train/loss: last 0.3333, from 0.3333 to 1' })).toBeVisible();
  await expectAccessible(page);
});
