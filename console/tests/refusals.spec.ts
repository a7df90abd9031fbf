import { expect, fresh, signIn, test } from './support/bench';

async function refusedFields(page: import('@playwright/test').Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: /The job file as text|任务文件文本|文本/ }).first();
  await editor.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

test('asking beyond the machine marks the field and says the bound', async ({ page }) => {
  await signIn(page);
  await page.goto('/submit');
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill(fresh('beyond'));
  await page.getByLabel('Command', { exact: true }).fill('true');
  await page.getByLabel('GPUs per task', { exact: true }).fill('9');
  await expect(page.getByText('requests 9 GPUs per task; the largest node has 4').first()).toBeVisible();
  await expect(page.getByLabel('GPUs per task', { exact: true })).toHaveAttribute('aria-invalid', 'true');
  await expect(page.getByRole('button', { name: 'GPUs per task:', exact: true })).toBeVisible();
});

test('guided, what no machine has is marked in its own section, long before the last', async ({ page }) => {
  await signIn(page);
  await page.goto('/submit');
  await page.getByLabel('Name', { exact: true }).fill(fresh('early'));
  for (let i = 0; i < 2; i += 1) await page.getByRole('button', { name: 'Next' }).click();
  const gpus = page.getByLabel('GPUs per task', { exact: true });
  await gpus.fill('9');
  await expect(gpus).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByText('the largest node has 4').first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Resources', exact: true })).toBeVisible();
  await gpus.fill('1');
  await expect(gpus).not.toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'Directories', exact: true })).toBeVisible();
});

test('an upload that is not there is refused before the submit', async ({ page }) => {
  await signIn(page);
  await page.goto('/submit');
  await refusedFields(
    page,
    `name: ${fresh('no-code')}\ncommand: "true"\ncode:\n  upload: sha256:${'0'.repeat(64)}\n`,
  );
  await expect(page.getByText(/there is no upload sha256:0+…: upload the code first/).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Review and submit' })).toBeDisabled();
});

test('a secret that is not there leads to the page Secrets, not to a command line', async ({ page }) => {
  await signIn(page);
  await page.goto('/submit');
  await refusedFields(page, `name: ${fresh('no-secret')}\ncommand: "true"\nsecrets: {TOKEN: gone}\n`);
  await expect(page.getByText(/there is no secret gone that you may use.*on the page Secrets/)).toBeVisible();
  await expect(page.getByRole('link', { name: 'Open Secrets' })).toHaveAttribute('href', '/secrets');
  await expect(page.getByText('footplate secrets')).toHaveCount(0);
});

test.describe('in Chinese', () => {
  test.use({ locale: 'zh-CN' });

  test('what the server refuses is told in Chinese, with places in words', async ({ page }) => {
    await signIn(page);
    await page.goto('/submit');
    const name = fresh('zh');
    await refusedFields(
      page,
      `name: ${name}\nstrategy: torchrum\nroles:\n- name: chief\n  command: "true"\n`,
    );
    await expect(page.getByText(/没有启动方式 torchrum；已有：/).first()).toBeVisible();
    await refusedFields(page, `name: ${name}\nroles:\n- name: chief\n  command: "true"\n  gpus: 9\n`);
    await expect(page.getByText('每个子任务需要 9 张 GPU；最大的节点只有 4').first()).toBeVisible();
    await expect(page.getByRole('button', { name: '角色 chief 的每个子任务的 GPU' })).toBeVisible();
    await expect(page.getByText('服务器提示')).toHaveCount(0);
  });

  test('a task that ran out of memory is told with limit and peak', async ({ page, api }) => {
    const job = await api.finished({
      name: fresh('hungry'),
      memory: '64MB',
      command: "python3 -c 'x = bytearray(400 * 1024**2)'",
    });
    const { reason } = await api.call<{ reason: { code: string } }>('GET', `/jobs/${job.id}`);
    test.skip(reason.code !== 'out_of_memory', 'this machine holds no task to its memory');
    await signIn(page);
    await page.goto(`/jobs/${job.id}`);
    await expect(page.getByText(/内存不足：上限 64MB，峰值/).first()).toBeVisible();
  });

  test('too many sign-ins are told in Chinese', async ({ page, expected }) => {
    expected.push(/429/);
    await page.route(/\/api\/v1\/session$/, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 429,
            json: {
              code: 'throttled',
              message: 'too many failed logins: try again in 12 seconds',
              message_code: 'too_many_failed_logins',
              params: { seconds: 12 },
              problems: [],
              request_id: 'r',
            },
          })
        : route.continue(),
    );
    await page.goto('/sign-in');
    await page.getByLabel('用户名').fill('somebody');
    await page.getByLabel('密码').fill('wrong password');
    await page.getByRole('button', { name: '登录' }).click();
    await expect(page.getByText('登录失败次数过多：请在 12 秒后重试')).toBeVisible();
  });
});

test('guided, no step is about what has no effect yet, and the last one leads to the review', async ({
  page,
}) => {
  await signIn(page);
  await page.goto('/submit');
  await page.getByLabel('Name', { exact: true }).fill(fresh('to-the-end'));
  for (let i = 0; i < 5; i += 1) {
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByText(/no effect yet|not sent yet/)).toHaveCount(0);
  }
  await expect(page.getByRole('button', { name: 'Review', exact: true })).toBeDisabled();
  await page.getByLabel('Command', { exact: true }).fill('true');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await expect(page.getByRole('dialog', { name: 'Submit this job?' })).toBeVisible();
});

test('comments are not dropped without a word', async ({ page }) => {
  await signIn(page);
  await page.goto('/submit');
  await refusedFields(page, `# why we do this\nname: ${fresh('noted')}\ncommand: "true"\n`);
  await page.getByText('JSON', { exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'JSON has no comments' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const editor = page.getByRole('textbox', { name: 'The job file as text' });
  await expect(editor).toContainText('# why we do this');
  await page.getByText('JSON', { exact: true }).click();
  await page.getByRole('button', { name: 'Drop the comments' }).click();
  await expect(editor).toContainText('"command": "true"');
});
