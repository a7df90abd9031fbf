import { expect, fresh, signIn, test } from './support/bench';

test('selected jobs do not cover the headings, also further down the list', async ({ page, api }) => {
  const stem = fresh('many');
  await page.setViewportSize({ width: 1280, height: 480 });
  for (let i = 0; i < 12; i += 1)
    await api.submit({ name: `${stem}-${i}`, command: 'true', queue: 'default' });
  await signIn(page);
  await page.goto(`/jobs?search=${stem}`);
  await page.getByLabel(`Select ${stem}-11`).check();
  const bar = page.getByText('1 selected').locator('..');
  const heading = page.getByRole('columnheader', { name: 'Name' });
  const [bottom, top] = [await bar.boundingBox(), await heading.boundingBox()];
  expect((bottom?.y ?? 0) + (bottom?.height ?? 0)).toBeLessThanOrEqual((top?.y ?? 0) + 1);
  await page.mouse.move(700, 300);
  await page.mouse.wheel(0, 400);
  // It stays in sight, right below the header.
  await expect.poll(async () => Math.round((await bar.boundingBox())?.y ?? 0)).toBe(56);
});

test('a long name is cut, and everything else stays in sight', async ({ page, api }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const name = `${fresh('long')}-${'x'.repeat(180)}`;
  const job = await api.finished({ name, command: 'exit 3' });
  await signIn(page);
  await page.goto(`/jobs?search=${job.name}`);
  const link = page.getByRole('link', { name });
  await expect(link).toHaveAttribute('title', name);
  const list = page.getByRole('table');
  const overflow = await list.evaluate((table) => {
    const { scrollWidth = 0, clientWidth = 0 } = table.parentElement ?? {};
    return scrollWidth - clientWidth;
  });
  expect(overflow).toBeLessThanOrEqual(0);
  await expect(page.getByRole('columnheader', { name: 'Run time' })).toBeInViewport({ ratio: 1 });
});
