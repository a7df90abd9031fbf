import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';

const GB = 1024 ** 3;

test.beforeEach(async ({ api }) => {
  const types = await api.call<{ items: { name: string }[] }>('GET', '/instance-types');
  for (const { name } of types.items) await api.call('DELETE', `/instance-types/${name}`);
  const frameworks = await api.call<{ items: { name: string; version: string }[] }>('GET', '/frameworks');
  for (const { name, version } of frameworks.items) {
    await api.call('DELETE', `/frameworks/${name}/${version}`);
  }
});

test('an admin offers a size and a framework, and a job is submitted with both', async ({ page, api }) => {
  await signIn(page);
  await page.goto('/admin/types');
  await expect(page.getByText('No instance types yet')).toBeVisible();
  await page.getByRole('button', { name: 'Add type' }).click();
  const type = page.getByRole('dialog', { name: 'Add type' });
  await type.getByLabel('Name').fill('TI.S.SMALL.POST');
  await type.getByLabel('CPUs').fill('0.5');
  await type.getByLabel('Memory (GB)', { exact: true }).fill('0.25');
  await type.getByLabel('GPUs').fill('1');
  await type.getByLabel('GPU type').fill('A100');
  await type.getByLabel('Description').fill('One card');
  await type.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: /TI\.S\.SMALL\.POST/ });
  await expect(row).toContainText('1 × A100 · 0.5 CPUs · 256 MB');
  await expect(row).toContainText('4 of 4');

  await page.getByRole('button', { name: 'Add framework' }).click();
  const framework = page.getByRole('dialog', { name: 'Add framework' });
  await framework.getByLabel('Name').fill('plain-python');
  await framework.getByLabel('Version').fill('3.12');
  await framework.getByLabel('Description').fill('What the node has');
  await framework.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('row', { name: /plain-python:3\.12/ })).toContainText('default version');
  await expectAccessible(page);

  const name = fresh('typed');
  await page.goto('/submit');
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Framework', { exact: true }).click();
  await page.locator('.ant-select-item-option', { hasText: 'plain-python:3.12' }).click();
  await page.getByLabel('CPUs per task', { exact: true }).fill('3');
  await page.getByLabel('Instance type', { exact: true }).click();
  await page.locator('.ant-select-item-option', { hasText: 'TI.S.SMALL.POST' }).click();
  const chosen = page.getByRole('main').getByText('1 × A100 · 0.5 CPUs · 256 MB · 4 fit now');
  await expect(chosen).toBeVisible();
  await expect(page.getByLabel('CPUs per task', { exact: true })).toHaveCount(0);
  await page.getByLabel('Command', { exact: true }).fill('sleep 600');
  await page.getByRole('button', { name: 'Review and submit' }).click();
  const review = page.getByRole('dialog');
  await expect(review).toContainText('1 GPU');
  await expect(review).toContainText('0.5 CPUs');
  await review.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/jobs\/\w{12}/);
  const id = page.url().split('/').at(-1)?.slice(0, 12) ?? '';
  await api.until(id, 'RUNNING');
  await page.goto('/admin/types');
  await expect(row).toContainText('3 of 4');
  await api.call('POST', `/jobs/${id}/stop`);
  await expect(row).toContainText('4 of 4');
  await page.goto('/admin/audit');
  const told = page.getByRole('row', { name: /TI\.S\.SMALL\.POST/ });
  await expect(told).toContainText(
    'CPUs: 0 → 0.5 · memory: 0 B → 256 MB · GPUs: 0 → 1 · GPU type: none → A100',
  );
});

test('an admin keeps the catalogue of what models are served in, and how long a queue keeps things', async ({
  page,
  api,
}) => {
  const [name, queue] = [fresh('triton'), fresh('tidy')];
  await api.call('POST', '/queues', { name: queue, retention: { code: 600 } });
  await signIn(page);
  await page.goto('/admin/types');
  await page.getByRole('button', { name: 'Add inference environment' }).click();
  const form = page.getByRole('dialog', { name: 'Add inference environment' });
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Image').fill('registry.example.com/triton:2');
  await form.getByLabel('Framework').fill('onnx');
  await form.getByRole('button', { name: 'Save' }).click();
  const row = page.getByRole('row', { name: new RegExp(name) });
  await expect(row).toContainText('registry.example.com/triton:2');
  await row.getByRole('button', { name: `Edit inference environment ${name}` }).click();
  const edit = page.getByRole('dialog', { name: `Edit inference environment ${name}` });
  await edit.getByLabel('Version').fill('1.17');
  await edit.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('onnx:1.17');
  await row.getByRole('button', { name: `More for ${name}` }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);

  await page.goto('/admin/queues');
  await page.getByRole('button', { name: `Edit queue ${queue}` }).click();
  const kept = page.getByRole('dialog', { name: `Edit queue ${queue}` });
  await kept.getByLabel('Logs').fill('week');
  await kept.getByRole('button', { name: 'Save' }).click();
  await expect(kept.getByText('A number of days, or none')).toBeVisible();
  await kept.getByLabel('Logs').fill('30');
  await kept.getByLabel('Results').fill('none');
  await kept.getByRole('button', { name: 'Save' }).click();
  await expect(kept).toHaveCount(0);
  const { retention } = await api.call<{ retention: Record<string, number | null> }>(
    'GET',
    `/queues/${queue}`,
  );
  expect(retention).toEqual({ code: 600, logs: 30 * 86_400, outputs: null });
  await api.call('DELETE', `/queues/${queue}`);
});

test('what the server has against a size is shown at its field', async ({ page, expected }) => {
  expected.push(/422/);
  await signIn(page);
  await page.goto('/admin/types');
  await page.getByRole('button', { name: 'Add type' }).click();
  const form = page.getByRole('dialog', { name: 'Add type' });
  await form.getByLabel('Name').fill('two words');
  await form.getByLabel('CPUs').fill('0');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText(/beginning with a letter or digit/)).toBeVisible();
  await expect(form.getByText('A number above 0').first()).toBeVisible();
  await form.getByLabel('Name').fill('small');
  await form.getByLabel('CPUs').fill('1');
  await form.getByLabel('Memory (GB)', { exact: true }).fill('1');
  await form.getByLabel('GPU type').fill('A100');
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(form.getByText('This has no effect: gpus is 0')).toBeVisible();
});

test('the bar of a queue shows its share and what is borrowed', async ({ page, api }) => {
  const queue = fresh('vision');
  await api.call('POST', '/queues', { name: queue, share: { cpus: 1, memory_bytes: GB, gpus: 1 } });
  const job = await api.submit({ name: fresh('borrows'), command: 'sleep 600', gpus: 3, queue });
  await api.until(job.id, 'RUNNING');
  await signIn(page);
  for (const place of ['/', '/admin/queues', `/queue?queue=${queue}`]) {
    await page.goto(place);
    const bar = page.getByRole('meter', { name: 'GPUs' }).and(page.locator('[aria-valuetext*="borrowed"]'));
    await expect(bar).toHaveAttribute('aria-valuetext', '3 / 4, share 1 · 2 borrowed');
    await expect(page.getByText('share 1 · 2 borrowed')).toBeVisible();
  }
  await expectAccessible(page);
  await api.call('POST', `/jobs/${job.id}/stop`);
  await api.until(job.id, 'STOPPED');
});

test('a queue that its nodes cannot serve is warned of', async ({ page, api }) => {
  const queue = fresh('lost');
  await api.call('POST', '/queues', { name: queue, nodes: ['nowhere'], share: { gpus: 64 } });
  await signIn(page);
  await page.goto('/admin/queues');
  await expect(page.getByText(/[Nn]o such node now: nowhere/)).toBeVisible();
  await expect(page.getByText(/[Ii]ts share of 64 GPUs is more than the 0/)).toBeVisible();
  await api.call('DELETE', `/queues/${queue}`);
});

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN', colorScheme: 'dark' });
  test('types and frameworks are accessible and fit a phone', async ({ page, api }) => {
    await api.call('PUT', '/instance-types/a100', {
      cpus: 16,
      memory_bytes: 64 * GB,
      gpus: 1,
      gpu_type: 'A100',
    });
    await api.call('PUT', '/frameworks/pytorch/2.4', {
      environment: { requirements: ['torch==2.4'] },
      strategies: ['torchrun', 'mpi'],
    });
    await api.call('PUT', '/inference-environments/triton', { image: 'registry.example.com/triton:2' });
    await signIn(page);
    await page.goto('/admin/types');
    await expect(page.getByRole('heading', { name: '实例规格与框架' })).toBeVisible();
    await expect(page.getByText('registry.example.com/triton:2')).toBeVisible();
    await expect(page.getByText('pytorch:2.4')).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSideways(page);
    await expectAccessible(page);
  });
});
