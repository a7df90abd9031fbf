import { expect, expectAccessible, expectNoSideways, fresh, signIn, test } from './support/bench';
import { confirm, type Detail, editor, name, open, review, step, write } from './support/form';

test('a single job goes through the sections in order, and runs', async ({ page, api }) => {
  const job = fresh('guided');
  await open(page);
  await name(page).fill(job);
  for (const title of ['Image', 'Resources', 'Directories', 'Alerts', 'Execution']) {
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByRole('heading', { name: title, exact: true })).toBeVisible();
    if (title === 'Resources') {
      await page.getByLabel('CPUs per task', { exact: true }).fill('0.1');
      await page.getByLabel('Memory per task', { exact: true }).fill('64');
      await page.getByLabel('Unit of Memory per task', { exact: true }).click();
      await page.locator('.ant-select-item-option[title="MB"]').click();
      await expect(page.getByText(/^Free now/)).toBeVisible();
    }
  }
  const idle = page.getByRole('button', { name: /sleep infinity/ });
  await idle.click();
  await expect(page.getByLabel('Command', { exact: true })).toHaveValue('sleep infinity');
  await expect(idle).toHaveCount(0);
  await page.getByLabel('Command', { exact: true }).fill('echo by the form');
  await expect(page.getByText('Yes, immediately')).toBeVisible();
  await expect(editor(page)).toContainText('memory: 64MB');
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
});

test('data is taken from a storage that is offered, and found by the task', async ({ page, api }) => {
  const { items } = await api.call<{ items: { enforced: string[] }[] }>('GET', '/nodes');
  test.skip(!items[0]?.enforced.includes('files'), 'this machine cannot give tasks a view of their own');
  const job = fresh('stored');
  await open(page);
  await write(page, `name: ${job}\ncommand: echo 7 >/data/output/seven; cat $FOOTPLATE_OUTPUT_DIR/seven\n`);
  await step(page, 'Directories').click();
  await page.getByRole('button', { name: 'Add: Data' }).click();
  await page.getByLabel('Storage', { exact: true }).click();
  await page.getByText("The job's own: output, checkpoints, code").click();
  await page.getByLabel('Folder', { exact: true }).fill('output');
  await page.getByLabel('Path', { exact: true }).fill('/data/output');
  await page.getByLabel('Read only', { exact: true }).click();
  await expect(editor(page)).toContainText('storage: job');
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
});

test('packages are asked for by a list, or by a file of the code', async ({ page }) => {
  await open(page);
  await name(page).fill(fresh('packages'));
  await step(page, 'Image').click();
  await page.getByRole('switch', { name: 'Set Python packages' }).click();
  const requirements = page.getByLabel('Requirements', { exact: true });
  await requirements.fill('numpy>=2\n\ntorch');
  await expect(editor(page)).toContainText('- numpy>=2');
  await expect(editor(page)).toContainText('- torch');
  await expect(requirements).toHaveValue('numpy>=2\n\ntorch');
  await requirements.fill('requirements.txt');
  await expect(editor(page)).toContainText('requirements: requirements.txt');
});

test('a section is checked before the next', async ({ page }) => {
  await open(page);
  // Nobody has done anything wrong yet.
  const panel = page.getByRole('complementary').last();
  await expect(panel.getByText('2 fields to fill in')).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByText('Fill this in').first()).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Basics', exact: true })).toBeVisible();
  await step(page, 'Execution').click();
  await expect(page.getByRole('heading', { name: 'Basics', exact: true })).toBeVisible();
  await name(page).fill('ok');
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('heading', { name: 'Image', exact: true })).toBeVisible();
});

test('on a phone the next section begins at its top, wherever the last one ended', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 600 });
  await open(page);
  await name(page).fill('ok');
  for (const title of ['Image', 'Resources', 'Directories']) {
    await page.getByRole('button', { name: 'Next' }).click();
    await expect(page.getByRole('heading', { name: title, exact: true })).toBeInViewport();
  }
});

test('what is outside of its bounds is marked at once and says the bound', async ({ page }) => {
  await open(page);
  await name(page).fill('not a name');
  await expect(name(page)).toHaveAttribute('aria-invalid', 'true');
  await expect(page.locator('#field-name-fault')).toContainText('letters, digits and . _ ~ -');
  await name(page).fill(fresh('bounds'));
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Command', { exact: true }).fill('true');
  const cpus = page.getByLabel('CPUs per task', { exact: true });
  await cpus.fill('2000');
  await expect(page.locator('#field-cpus-fault')).toHaveText('Must be from 0.01 to 1024');
  await expect(cpus).toHaveValue('2000');
  await expect(review(page)).toBeDisabled();
  await cpus.fill('many');
  await expect(page.locator('#field-cpus-fault')).toContainText('Must be a number');
  await cpus.fill('0.1');
  await expect(page.locator('#field-cpus-fault')).toHaveCount(0);
  await page.getByLabel('Retries', { exact: true }).fill('1001');
  await expect(page.locator('#field-retry-fault')).toHaveText('Must be from 0 to 1000');
});

test('help on hover says what a field is, its unit and its bounds', async ({ page }) => {
  await open(page);
  await page.getByText('Professional', { exact: true }).click();
  await page.getByText('Memory per task').hover();
  await expect(page.getByRole('tooltip').last()).toContainText('Memory of each task, with a unit.');
  await expect(page.getByRole('tooltip').last()).toContainText('16MB to 64TB');
});

test('a size takes the unit that is typed with it, and keeps what is typed', async ({ page }) => {
  await open(page);
  await page.getByText('Professional', { exact: true }).click();
  const memory = page.getByLabel('Memory per task', { exact: true });
  await memory.pressSequentially('512MB');
  await expect(memory).toHaveValue('512MB');
  await expect(editor(page)).toContainText('memory: 512MB');
  await memory.blur();
  await expect(memory).toHaveValue('512');
  const unit = page.locator('.ant-select', { has: page.getByLabel('Unit of Memory per task') });
  await expect(unit).toHaveText('MB');
  await expect(page.locator('#field-memory-fault')).toHaveCount(0);
  await page.getByLabel('Shared memory', { exact: true }).fill('128');
  await expect(editor(page)).toContainText('shm: 128MB');
});

test('Enter in a field goes to the next section, and every field is one stop of the keyboard', async ({
  page,
}) => {
  await open(page);
  await name(page).fill(fresh('entered'));
  await name(page).press('Enter');
  await expect(page.getByRole('heading', { name: 'Image', exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  const cpus = page.getByLabel('CPUs per task', { exact: true });
  await cpus.focus();
  await page.keyboard.press('Tab');
  await expect(page.getByLabel('Memory per task', { exact: true })).toBeFocused();
});

test('whether resources are free, and when, is told before there is a command', async ({ page, api }) => {
  const holder = await api.submit({ name: fresh('holds'), command: 'sleep 600', gpus: 3, time_limit: '30m' });
  await api.until(holder.id, 'RUNNING');
  await open(page);
  await name(page).fill(fresh('asks'));
  await expect(page.getByText('These resources are free now')).toBeVisible();
  for (let i = 0; i < 2; i += 1) await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByText('1 of 4 A100')).toBeVisible();
  await page.getByLabel('GPUs per task', { exact: true }).fill('2');
  await expect(page.getByText('These resources are not free now: Waiting for resources')).toBeVisible();
  await expect(page.getByText(/^Expected to start in \d+ min/)).toBeVisible();
  await expect(page.getByLabel('Shared memory', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect(page.getByRole('switch', { name: 'Set Results' })).toBeVisible();
  for (let i = 0; i < 2; i += 1) await page.getByRole('button', { name: 'Next' }).click();
  await page.getByLabel('Command', { exact: true }).fill('true');
  await page.getByRole('button', { name: 'Review', exact: true }).click();
  await expect(page.getByRole('dialog').getByText(/^Expected to start in \d+ min/)).toBeVisible();
  await api.call('POST', `/jobs/${holder.id}/stop`);
  await api.until(holder.id, 'STOPPED');
});

test('a server that is away is not told as a wrong job, and asked again by itself', async ({
  page,
  expected,
}) => {
  expected.push(/ERR_FAILED/);
  await open(page);
  await page.route('**/api/v1/jobs/check', (route) => route.abort());
  await write(page, `name: ${fresh('away')}\ncommand: echo\ncpus: 0.1\n`);
  await expect(page.getByText('The server cannot be reached')).toBeVisible();
  await expect(page.getByText('Cannot submit yet')).toHaveCount(0);
  await page.unroute('**/api/v1/jobs/check');
  await expect(page.getByText('Yes, immediately')).toBeVisible();
});

test('the long form has a way to each section, and an untouched one has nothing to clear', async ({
  page,
}) => {
  await open(page);
  await expect(page.getByRole('button', { name: 'Start over' })).toBeDisabled();
  await page.getByText('Professional', { exact: true }).click();
  const index = page.getByRole('navigation', { name: 'Sections of the form' });
  await index.getByRole('link', { name: 'Execution' }).click();
  await expect(page.getByLabel('Command', { exact: true })).toBeFocused();
  await expect(index).toBeInViewport();
  await page.keyboard.type('true');
  await expect(page.getByLabel('Extras', { exact: true })).toHaveCount(0);
  await page.locator('#section-execution summary').click();
  await expect(page.getByLabel('Extras', { exact: true })).toBeVisible();
  await page.reload();
  await expect(page.getByLabel('Extras', { exact: true })).toBeVisible();
});

test('more than the machines have is refused with the limit, and nothing is cut', async ({ page }) => {
  await open(page);
  await name(page).fill(fresh('too-much'));
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Command', { exact: true }).fill('true');
  await page.getByLabel('CPUs per task', { exact: true }).fill('1000');
  await expect(page.getByText(/the largest node has|room for|no node has/).first()).toBeVisible();
  await expect(page.getByLabel('CPUs per task', { exact: true })).toHaveValue('1000');
  await expect(review(page)).toBeDisabled();
});

test('a job that would wait says why, and what would start, one press away', async ({ page, api }) => {
  const { items } = await api.call<{ items: { cpus: number }[] }>('GET', '/nodes');
  const cpus = items[0]?.cpus ?? 0;
  const holder = await api.submit({ name: fresh('holds'), command: 'sleep 600', cpus: cpus - 0.5 });
  await api.until(holder.id, 'RUNNING');
  await open(page);
  await name(page).fill(fresh('would-wait'));
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Command', { exact: true }).fill('true');
  await page.getByLabel('CPUs per task', { exact: true }).fill(String(cpus));
  await expect(page.getByText(/Not now: Waiting for resources/)).toBeVisible();
  await page.getByRole('button', { name: /^Use 0.5 CPUs per task/ }).click();
  await expect(page.getByLabel('CPUs per task', { exact: true })).toHaveValue('0.5');
  await expect(page.getByText('Yes, immediately')).toBeVisible();
  await api.call('POST', `/jobs/${holder.id}/stop`);
  await api.until(holder.id, 'STOPPED');
});

test('a job of several roles is told which of them would have to be smaller', async ({ page, api }) => {
  const { items } = await api.call<{ items: { cpus: number }[] }>('GET', '/nodes');
  const holder = await api.submit({
    name: fresh('holds'),
    command: 'sleep 600',
    cpus: (items[0]?.cpus ?? 0) - 1,
  });
  await api.until(holder.id, 'RUNNING');
  await open(page);
  await write(
    page,
    `name: ${fresh('gang')}\nroles:\n  - {name: ps, command: x, cpus: 0.5}\n  - {name: worker, command: x, cpus: 0.5, count: 3}\n`,
  );
  await page.getByRole('button', { name: 'Use 1 task in worker' }).click();
  await expect(page.getByText('Yes, immediately')).toBeVisible();
  await expect(editor(page)).toContainText('count: 1');
  await api.call('POST', `/jobs/${holder.id}/stop`);
  await api.until(holder.id, 'STOPPED');
});

test('a job that would be in the way of another is offered a time limit', async ({ page, api }) => {
  const { items } = await api.call<{ items: { cpus: number }[] }>('GET', '/nodes');
  const cpus = items[0]?.cpus ?? 0;
  const holds = { name: fresh('holds'), command: 'sleep 600', cpus: cpus - 1, time_limit: '30m' };
  const holder = await api.submit(holds);
  await api.until(holder.id, 'RUNNING');
  const next = await api.submit({ name: fresh('next'), command: 'true', cpus, time_limit: '5m' });
  await open(page);
  await write(page, `name: ${fresh('short')}\ncommand: x\ncpus: 0.5\n`);
  await page.getByRole('button', { name: /^Use a time limit of (29|30)m$/ }).click();
  await expect(page.getByText('Yes, immediately')).toBeVisible();
  await expect(editor(page)).toContainText('time_limit:');
  for (const { id } of [next, holder]) await api.call('POST', `/jobs/${id}/stop`);
  await api.until(holder.id, 'STOPPED');
});

test('professional mode shows every field, and nothing typed is lost on the way there and back', async ({
  page,
}) => {
  await open(page);
  await name(page).fill('modes');
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Priority', { exact: true }).fill('7');
  await page.getByRole('button', { name: 'Add: Environment variables' }).click();
  await page.getByLabel('Environment variables, name 1', { exact: true }).fill('SEED');
  await page.getByLabel('Environment variables, value 1', { exact: true }).fill('42');
  await expect(page.getByLabel('Grace period', { exact: true })).toHaveAttribute('placeholder', '10s');
  await expect(page.getByLabel('Time limit', { exact: true })).toHaveAttribute('placeholder', 'e.g. 1h30m');
  for (const more of await page.locator('summary').all()) await more.click();
  for (const label of ['Shared memory', 'Deadline', 'Grace period', 'Extras', 'Registry login']) {
    await expect(page.getByLabel(label, { exact: true })).toBeVisible();
  }
  await page.getByText('Guided', { exact: true }).click();
  await expect(name(page)).toHaveValue('modes');
  await expect(page.getByLabel('Priority', { exact: true })).toHaveValue('7');
  await expect(editor(page)).toContainText('SEED: "42"');
  await page.reload();
  await expect(name(page)).toHaveValue('modes');
});

test('a distributed job of two roles runs all its tasks', async ({ page, api }) => {
  const job = fresh('roles');
  await open(page);
  await name(page).fill(job);
  await page.getByText('Distributed', { exact: true }).click();
  await page.getByText('Professional', { exact: true }).click();
  await page.getByRole('button', { name: 'Add role' }).click();
  const first = page.getByRole('region', { name: 'Role 1' });
  const second = page.getByRole('region', { name: 'Role 2' });
  await second.getByLabel('Role', { exact: true }).fill('helper');
  for (const [role, count] of [
    [first, '2'],
    [second, '1'],
  ] as const) {
    await role.getByLabel('Tasks', { exact: true }).fill(count);
    await role.getByLabel('CPUs per task', { exact: true }).fill('0.1');
    await role.getByLabel('Memory per task', { exact: true }).fill('0.0625');
  }
  await page.getByLabel('Command of worker', { exact: true }).fill('echo worker $FOOTPLATE_TASK_INDEX');
  await page.getByLabel('Command of helper', { exact: true }).fill('echo helper');
  await expect(page.getByText('3 tasks in all')).toBeVisible();
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
  const { tasks } = await api.call<Detail>('GET', `/jobs/${id}`);
  expect(tasks.map((task) => task.name).sort()).toEqual(['helper-0', 'worker-0', 'worker-1']);
});

test('the parameter server template brings ps and worker, and the job runs', async ({ page, api }) => {
  const job = fresh('ps');
  await open(page);
  await name(page).fill(job);
  await page.getByLabel('Template', { exact: true }).click();
  await page.getByText('Parameter server: ps and worker roles').click();
  await page.getByText('Professional', { exact: true }).click();
  await page.getByLabel('Command of ps', { exact: true }).fill('sleep 600');
  await page.getByLabel('Command of worker', { exact: true }).fill('echo $TF_CONFIG');
  const id = await confirm(page);
  await api.until(id, 'SUCCEEDED');
  const { config, tasks } = await api.call<Detail>('GET', `/jobs/${id}`);
  expect(config.strategy).toBe('tensorflow');
  expect(tasks.map((task) => task.name).sort()).toEqual(['ps-0', 'worker-0', 'worker-1']);
});

test('a template can be taken back, and single leads back to distributed', async ({ page }) => {
  await open(page);
  await name(page).fill('kept-name');
  await page.getByLabel('Template', { exact: true }).click();
  await page.getByText(/^torchrun: /).click();
  await expect(editor(page)).toContainText('strategy: torchrun');
  await page.getByText('Single', { exact: true }).click();
  await expect(editor(page)).not.toContainText('roles');
  await page.getByText('Distributed', { exact: true }).click();
  await expect(editor(page)).toContainText('strategy: torchrun');
  await expect(editor(page)).toContainText('count: 2');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(editor(page)).not.toContainText('torchrun');
  await expect(name(page)).toHaveValue('kept-name');
});

test('a job is saved as a template, and begins another', async ({ page }) => {
  await open(page);
  await write(page, 'name: first\ncommand: echo kept\ncpus: 0.25\n');
  await page.getByRole('button', { name: 'Save as template' }).click();
  await page.getByLabel('Name of the template').fill('Quarter');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Template Quarter saved')).toBeVisible();
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Start over' }).click();
  await name(page).fill('second');
  await page.getByLabel('Template', { exact: true }).click();
  await page.getByTitle('Quarter', { exact: true }).click();
  await expect(editor(page)).toContainText('cpus: 0.25');
  await expect(name(page)).toHaveValue('second');
});

test('roles and commands survive a look at the single form from another section', async ({ page }) => {
  await open(page);
  await name(page).fill('switched');
  await page.getByLabel('Template', { exact: true }).click();
  await page.getByText('Parameter server: ps and worker roles').click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByText('Single', { exact: true }).click();
  await expect(editor(page)).not.toContainText('roles');
  await step(page, 'Execution').click();
  await page.getByLabel('Command', { exact: true }).fill('python mine.py');
  await step(page, 'Basics').click();
  await page.reload();
  await page.getByText('Distributed', { exact: true }).click();
  await expect(editor(page)).toContainText('python worker.py');
  await expect(editor(page)).toContainText('python mine.py');
});

test('two presses on Submit make one job, told once', async ({ page }) => {
  await open(page);
  await write(page, `name: ${fresh('twice')}\ncommand: echo\ncpus: 0.1\n`);
  await expect(review(page)).toBeEnabled();
  await review(page).click();
  const dialog = page.getByRole('dialog', { name: 'Submit this job?' });
  await expect(dialog).toContainText('grace');
  await dialog.getByRole('button', { name: 'Submit' }).dblclick();
  await expect(page).toHaveURL(/\/jobs\/\w{12}/);
  await expect(page.getByText(/^Job twice-.* submitted$/)).toHaveCount(1);
});

test('cancel creates nothing', async ({ page, api }) => {
  const job = fresh('cancelled');
  await open(page);
  await write(page, `name: ${job}\ncommand: echo\n`);
  await review(page).click();
  const dialog = page.getByRole('dialog', { name: 'Submit this job?' });
  await expect(dialog).toContainText('grace');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(dialog).toBeHidden();
  await expect(review(page)).toBeFocused();
  const { items } = await api.call<{ items: unknown[] }>('GET', `/jobs?search=${job}`);
  expect(items).toEqual([]);
});

test('a name that is taken is marked, and a free one is one press away', async ({ page, api }) => {
  const taken = fresh('taken');
  await api.finished({ name: taken, command: 'true' });
  await open(page);
  await name(page).fill(taken);
  await expect(page.locator('#field-name-fault')).toContainText('already');
  await page.getByRole('button', { name: /^Use taken-/ }).click();
  await expect(page.locator('#field-name-fault')).toHaveCount(0);
  await expect(name(page)).not.toHaveValue(taken);
});

test('the form can be filled and sent with the keyboard alone', async ({ page, api }) => {
  const job = fresh('keys');
  await open(page);
  await name(page).focus();
  await page.keyboard.type(job);
  await step(page, 'Execution').focus();
  await page.keyboard.press('Enter');
  await page.getByLabel('Command', { exact: true }).focus();
  await page.keyboard.type('echo keys');
  await expect(review(page)).toBeEnabled();
  await review(page).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Submit this job?' });
  await expect(dialog.getByRole('button', { name: 'Submit' })).toBeEnabled();
  await dialog.getByRole('button', { name: 'Submit' }).focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/jobs\/\w{12}/);
  const { items } = await api.call<{ items: { id: string }[] }>('GET', `/jobs?search=${job}`);
  await api.until(items[0]?.id ?? '', 'SUCCEEDED');
});

for (const [scheme, width, height] of [
  ['light', 1280, 800],
  ['dark', 390, 844],
] as const) {
  for (const mode of ['Guided', 'Professional']) {
    test(`the ${mode.toLowerCase()} form is accessible, ${scheme}, at ${width}`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height });
      await open(page);
      await page.getByText(mode, { exact: true }).click();
      await write(
        page,
        'name: x y\nroles:\n  - {name: a, command: x, count: 0}\n  - {name: b, command: x}\n',
      );
      await expect(page.getByText(/fields to fix/)).toBeVisible();
      // Tooltips fade: a colour halfway there is nobody's.
      await page.mouse.move(0, 0);
      await expect(page.getByRole('tooltip')).toHaveCount(0);
      await expectAccessible(page);
      await expectNoSideways(page);
    });
  }
}

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test('the form does too', async ({ page }) => {
    await signIn(page);
    await page.goto('/submit');
    await page.getByLabel('名称', { exact: true }).fill('不行');
    await expect(page.locator('#field-name-fault')).toContainText('只允许字母、数字');
    await page.getByText('专业', { exact: true }).click();
    await page.getByText('每个子任务的内存', { exact: true }).hover();
    await expect(page.getByRole('tooltip').last()).toContainText('16MB 到 64TB');
  });
});
