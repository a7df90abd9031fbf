import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test as base, expect, type Page } from '@playwright/test';
import { tarGz } from '../../src/features/submit/code/tar';

const PASSWORD = process.env.FOOTPLATE_ADMIN_PASSWORD ?? '';
const MOST_DELAY_MS = Number(process.env.FOOTPLATE_TEST_DELAY_MS ?? 0);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Fields = Record<string, unknown>;

/** The REST API as tests use it: to bring about what pages then show. */
export class Api {
  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  static async signIn(url: string, user = 'admin', password = PASSWORD): Promise<Api> {
    const body = JSON.stringify({ user, password });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}/api/v1/login`, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
    return new Api(url, (await answer.json()).token);
  }

  async call<Answer>(method: string, path: string, body?: Fields): Promise<Answer> {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${this.token}` };
    const answer = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return (text ? JSON.parse(text) : undefined) as Answer;
  }

  /** Send code along, file by file; answers with its digest. */
  async upload(files: Record<string, string>): Promise<string> {
    const sent = Object.entries(files).map(([name, text]) => ({ name, content: new Blob([text]) }));
    const answer = await fetch(`${this.url}/api/v1/code`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.token}` },
      body: await tarGz(sent),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()).upload;
  }

  submit(fields: Fields): Promise<{ id: string; name: string }> {
    return this.call('POST', '/jobs', { cpus: 0.1, memory: '64MB', ...fields });
  }

  async until(id: string, ...states: string[]): Promise<void> {
    await expect
      .poll(async () => (await this.call<{ state: string }>('GET', `/jobs/${id}`)).state, { timeout: 30_000 })
      .toMatch(new RegExp(`^(${states.join('|')})$`));
  }

  /** A job that is over. */
  async finished(fields: Fields): Promise<{ id: string; name: string }> {
    const job = await this.submit(fields);
    await this.until(job.id, 'SUCCEEDED', 'FAILED', 'STOPPED');
    return job;
  }
}

interface Bench {
  api: Api;
  /** Set FOOTPLATE_TEST_DELAY_MS to look for races: answers come late, and overtake each other. */
  delays: undefined;
  /** Refusals that a test brings about on purpose: what the browser says about them is no fault. */
  expected: RegExp[];
  faults: string[];
}

async function delayAnswers(page: Page): Promise<void> {
  await page.route(/\/api\/v1\/(?!.*stream)/, async (route) => {
    try {
      const response = await route.fetch();
      await new Promise((done) => setTimeout(done, Math.random() * MOST_DELAY_MS));
      await route.fulfill({ response });
    } catch {
      // The page has gone on and waits for this no longer.
    }
  });
}

let count = 0;
/** A name that no other test uses. */
export const fresh = (stem: string) => `${stem}-${process.pid}-${++count}`;

/** Tests in which any word on the browser's console is a failure. */
export const test = base.extend<Omit<Bench, 'api'>, Pick<Bench, 'api'>>({
  // Once for all tests: signing in is made slow on purpose.
  api: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from here
    async ({}, use) => use(await Api.signIn(process.env.FOOTPLATE_URL ?? '')),
    { scope: 'worker' },
  ],
  delays: [
    async ({ page }, use) => {
      if (MOST_DELAY_MS > 0) await delayAnswers(page);
      await use(undefined);
    },
    { auto: true },
  ],
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names from here
  expected: async ({}, use) => use([]),
  faults: [
    async ({ page, expected }, use, info) => {
      const faults: string[] = [];
      const note = (text: string) => faults.push(text);
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type()))
          note(`${message.text()} (${message.location().url})`);
      });
      page.on('pageerror', (error) => note(String(error)));
      await use(faults);
      const unexpected = faults.filter((text) => !expected.some((pattern) => pattern.test(text)));
      // Playwright's own pictures of failures are taken of every test, in case that its end fails.
      if (info.errors.length > 0 || unexpected.length > 0)
        await page.screenshot({ path: info.outputPath('failed.png') });
      expect(unexpected).toEqual([]);
    },
    { auto: true },
  ],
});

export { expect };

/** Sign a page in without the form, which has tests of its own; the test goes on to the page it is about. */
export async function signIn(page: Page, user = 'admin', password = PASSWORD): Promise<void> {
  const answer = await page.request.post('/api/v1/session', { data: { user, password } });
  expect(answer.status(), await answer.text()).toBe(200);
  const { key } = await answer.json();
  // What one page of the server keeps in the browser belongs to all of them; this one is there at once.
  await page.route('**/blank', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<link rel="icon" href="data:,">' }),
  );
  await page.goto('/blank');
  await page.evaluate((kept) => localStorage.setItem('footplate.key', kept), key);
  // A page with routes of its own caches nothing: each visit would load and compile all scripts anew.
  await page.unroute('**/blank');
}

export async function signInByForm(page: Page, user = 'admin', password = PASSWORD): Promise<void> {
  await page.goto('/sign-in');
  await page.getByLabel(/User name|用户名/).fill(user);
  await page.getByLabel(/^(Password|密码)$/).fill(password);
  await page.getByRole('button', { name: /^(Sign in|登录)$/ }).click();
  await expect(page).not.toHaveURL(/sign-in/);
}

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary: string }[];
}

/** Fail on what keeps people from using the page. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(AXE);
  const findings = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] }).then((result) => result.violations)',
  )) as Finding[];
  const serious = findings.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  const told = serious.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}\n${node.failureSummary}`).join('\n')}`,
  );
  expect(told).toEqual([]);
}

/** No page is wider than the screen it is on, once it has taken to a new size. */
export async function expectNoSideways(page: Page): Promise<void> {
  const overflow = () =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  await expect.poll(overflow).toBeLessThanOrEqual(0);
}
