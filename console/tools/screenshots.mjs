// Draws the main pages of a server that runs, for docs/images; started by tools/screenshots.py.
import { join } from 'node:path';
import { chromium } from '@playwright/test';

const {
  FOOTPLATE_URL: url,
  FOOTPLATE_ADMIN_PASSWORD: password,
  CHROMIUM: executablePath,
  IMAGES,
} = process.env;
const jobs = JSON.parse(process.env.JOBS);
// Sign-in links, one for each context; without them the password is used. They come with the demo.
const links = JSON.parse(process.env.LINKS ?? '[]');
const isDemo = links.length > 0;

const DRAFT = [
  'name: vit-small-distill',
  'queue: default',
  'command: torchrun train.py --teacher vit-huge',
  'gpus: 4',
  'cpus: 8',
  'memory: 32GB',
  'time_limit: 6h',
  '',
].join('\n');

/** What is drawn: where, and what must be there first. */
const GALLERY = {
  dashboard: { path: '/', ready: (page) => page.getByText('llama-7b-lora').first().waitFor() },
  jobs: { path: '/jobs', ready: (page) => page.getByRole('link', { name: 'eval-clip' }).waitFor() },
  submit: { path: '/submit', ready: fillForm },
  job: { path: `/jobs/${jobs['llama-7b-lora']}`, ready: (page) => page.locator('ol li').first().waitFor() },
  failed: {
    path: `/jobs/${jobs['bert-large-squad']}`,
    ready: (page) => page.locator('ol li').first().waitFor(),
  },
  log: {
    path: `/jobs/${jobs['resnet50-cifar100']}?tab=logs`,
    ready: (page) => page.getByRole('log').getByText('best model').waitFor(),
  },
  usage: {
    path: `/jobs/${jobs['llama-7b-lora']}?tab=usage`,
    ready: (page) => page.locator('canvas').first().waitFor(),
  },
  queue: { path: '/queue', ready: (page) => page.getByRole('link', { name: 'detect-coco' }).waitFor() },
  nodes: { path: '/admin/nodes', ready: (page) => page.getByText('gpu-01').first().waitFor() },
};

const DEMO = {
  tour: { path: '/', ready: (page) => page.getByText('wide-spirals').first().waitFor() },
  'tour-log': {
    path: `/jobs/${jobs['zen-letters']}?tab=logs`,
    ready: (page) => page.getByRole('log').getByText('it writes').first().waitFor(),
  },
};
const PAGES = isDemo ? DEMO : GALLERY;

async function fillForm(page) {
  const editor = page.locator('.cm-content');
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(DRAFT);
  // Beyond the dry run, which waits until somebody stops typing.
  await page.waitForTimeout(1500);
  await page.getByRole('heading', { level: 1 }).click();
  await page.mouse.move(0, 0);
}

async function signIn(page) {
  if (isDemo) {
    await page.goto(links.pop());
    await page.waitForURL((address) => !address.pathname.includes('enter'));
    return;
  }
  await page.goto(`${url}/sign-in`);
  await page.getByLabel(/User name|用户名/).fill('admin');
  await page.getByLabel(/^(Password|密码)$/).fill(password);
  await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click();
  await page.waitForURL((address) => !address.pathname.includes('sign-in'));
}

async function shoot(page, name, { path, ready }) {
  await page.goto(url + path);
  await ready(page);
  await page.locator('.ant-skeleton').first().waitFor({ state: 'detached' });
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(IMAGES, `${name}.png`) });
}

async function shootPhone(page, language) {
  await page.setViewportSize({ width: 390, height: 844 });
  const name = language === 'en' ? 'dashboard' : 'log';
  await shoot(page, `phone-${name}-${language}`, PAGES[name]);
}

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--font-render-hinting=none'],
});
for (const [language, locale] of [
  ['en', 'en-GB'],
  ['zh', 'zh-CN'],
]) {
  for (const colorScheme of ['light', 'dark']) {
    const context = await browser.newContext({
      locale,
      colorScheme,
      reducedMotion: 'reduce',
      viewport: { width: 1280, height: 800 },
    });
    const page = await context.newPage();
    await signIn(page);
    for (const [name, what] of Object.entries(PAGES)) {
      await shoot(page, `${name}-${language}-${colorScheme}`, what);
    }
    if (!isDemo && (language === 'en') === (colorScheme === 'light')) await shootPhone(page, language);
    await context.close();
  }
}
await browser.close();
