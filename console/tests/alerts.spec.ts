import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

/** A receiver of webhooks on this machine. */
async function receiver(): Promise<{ url: string; posts: Record<string, unknown>[]; server: Server }> {
  const posts: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      posts.push(JSON.parse(text));
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, posts, server };
}

test('a channel is added, tested, used by a rule, and what it told is listed', async ({ page, api }) => {
  await api.call('PUT', '/alerts/settings', { private_networks: ['127.0.0.1'] });
  const { url, posts, server } = await receiver();
  const name = fresh('hook');
  await signIn(page);
  await page.goto('/alerts');
  await page.getByRole('button', { name: 'Add channel' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Kind').click();
  await page.getByTitle('Webhook', { exact: true }).click();
  await dialog.getByLabel('Address').fill(url);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(`Channel ${name} saved`)).toBeVisible();
  await page.getByRole('button', { name: `Test ${name}` }).click();
  await expect(page.getByText(`Channel ${name} took a test notice`)).toBeVisible();
  expect(posts[0]?.event).toBe('test');
  await page.getByRole('button', { name: 'Add rule' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Rule saved')).toBeVisible();
  await page.getByRole('button', { name: /^Change rule/ }).click();
  const change = page.getByRole('dialog', { name: 'Change rule' });
  await change.getByLabel('Tell when').fill('no_progress');
  await change.getByLabel('Tell when').press('Enter');
  await change.getByLabel('After (minutes)').fill('30');
  await change.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('table', { name: 'Rules for all jobs' })).toContainText('failed, no progress');
  const job = await api.finished({ name: fresh('bad'), command: 'echo last words; exit 3' });
  await expect.poll(() => posts.length, { timeout: 15_000 }).toBeGreaterThan(1);
  expect(posts[1]?.log).toEqual(['last words']);
  const row = page.getByRole('row').filter({ hasText: `Job ${job.name} failed` });
  await expect(row.getByText('sent')).toBeVisible({ timeout: 15_000 });
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 800 });
  await expectNoSideways(page);
  server.close();
});

test('admins set the mail server, and its password stays where none is given', async ({ page, api }) => {
  await signIn(page);
  await page.goto('/alerts');
  await page.getByLabel('Host').fill('mail.example.org');
  await page.getByLabel('User name').fill('footplate');
  await page.getByLabel('Password').fill('hidden');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Mail server saved')).toBeVisible();
  await expect(page.getByText('One is stored; leave empty to keep it.')).toBeVisible();
  await page.getByLabel('Password').fill('');
  await page.getByLabel('Sender').fill('footplate@example.org');
  await page.getByRole('button', { name: 'Save' }).click();
  const stored = () => api.call<{ mail: Record<string, unknown> }>('GET', '/alerts/settings');
  await expect.poll(async () => (await stored()).mail.sender).toBe('footplate@example.org');
  expect((await stored()).mail).toMatchObject({ host: 'mail.example.org', has_password: true });
  await expectAccessible(page);
});

test('the page and the form of alerts speak Chinese', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('footplate.language', 'zh'));
  await signIn(page);
  await page.goto('/alerts');
  await expect(page.getByRole('heading', { name: '告警', level: 1 })).toBeVisible();
  await expect(page.getByRole('button', { name: '添加渠道' })).toBeVisible();
});
