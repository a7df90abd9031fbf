import { expect, expectAccessible, expectNoSideways, signInByForm, test } from './support/bench';

test('a wrong password is refused in words', async ({ page, expected }) => {
  expected.push(/401/);
  await page.goto('/');
  await page.getByLabel('User name').fill('admin');
  await page.getByLabel('Password', { exact: true }).fill('wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByText('Wrong user name or password.')).toBeVisible();
});

test('signing in leads to the page that was asked for, signing out back', async ({ page }) => {
  await page.goto('/jobs?state=FAILED');
  await expect(page).toHaveURL(/sign-in\?next=/);
  await signInByForm(page);
  await page.goto('/profile');
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
  await page.getByRole('button', { name: 'Account of admin' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page).toHaveURL(/sign-in/);
  await page.goto('/jobs');
  await expect(page).toHaveURL(/sign-in/);
});

test('a sign-in link opens the page that it names, once', async ({ page, api, expected }) => {
  expected.push(/404/);
  const { link } = await api.call<{ link: string }>('POST', '/session/links', { path: '/profile' });
  const path = link.replace(/^https?:\/\/[^/]+/, '');
  await page.goto(path);
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
  await expect(page).toHaveURL(/\/profile$/);

  // Somebody who is signed in is asked first; the link is used up by now.
  await page.goto(path);
  await expect(page.getByText('This browser is signed in as admin.')).toBeVisible();
  await page.getByRole('button', { name: 'Sign in with the link' }).click();
  await expect(page.getByText('this link was used, has expired or does not exist')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Continue as admin' }).click();
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
});

test('a sign-in link that is worth nothing leads to the password', async ({ page, expected }) => {
  expected.push(/404/);
  await page.goto('/enter#fpl_nonsense');
  await expect(page.getByText('this link was used, has expired or does not exist')).toBeVisible();
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Sign in with a password' }).click();
  await signInByForm(page);
});

test('the session is of no use without its key, nor to a page of another site', async ({ page, context }) => {
  await signInByForm(page);
  const [cookie] = await context.cookies('http://127.0.0.1/api/');
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/api/' });
  const answer = await page.request.get('/api/v1/me');
  expect(answer.status()).toBe(401);
});

test('a session that was revoked elsewhere ends at the sign-in page', async ({ page, api, expected }) => {
  expected.push(/401/);
  await signInByForm(page);
  // The page must not learn of it before it is asked for the jobs.
  await page.goto('about:blank');
  const { items } = await api.call<{ items: { id: string; name: string }[] }>('GET', '/tokens');
  for (const token of items.filter(({ name }) => name === 'console'))
    await api.call('DELETE', `/tokens/${token.id}`);
  await page.goto('/jobs');
  await expect(page).toHaveURL(/sign-in/);
  await expect(page.getByText('Your session has ended.')).toBeVisible();
  await signInByForm(page);
  await page.getByRole('button', { name: 'Account of admin' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  await expect(page.getByText('Your session has ended.')).toHaveCount(0);
});

test('a server that is slow, or does not answer, is said to be so at once', async ({ page, expected }) => {
  expected.push(/ERR_FAILED|503/);
  await signInByForm(page);
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/v1/session', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/jobs', { waitUntil: 'commit' });
  await expect(page.getByText('Loading…')).toBeVisible({ timeout: 2000 });
  release();
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
  await page.unroute('**/api/v1/session');

  await page.route('**/api/v1/session', (route) => route.abort());
  await page.goto('/jobs', { waitUntil: 'commit' });
  await expect(page.getByText('The server cannot be reached.')).toBeVisible({ timeout: 2000 });
  await page.unroute('**/api/v1/session');
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
});

test('without a connection a page that is not here yet says so, and comes when it can', async ({
  page,
  context,
  expected,
}) => {
  expected.push(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK_CHANGED|network error|dynamically imported module/);
  expected.push(/the server cannot be reached/);
  await signInByForm(page);
  await page.goto('/profile');
  await expect(page.getByRole('heading', { name: 'Profile' })).toBeVisible();
  await context.setOffline(true);
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Main navigation' })).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByText('The server cannot be reached.')).toBeVisible();
  // By itself: nobody has to press anything.
  await context.setOffline(false);
  await expect(page.getByRole('heading', { name: 'Jobs' })).toBeVisible();
});

test('the address of another site is nowhere to be led to', async ({ page }) => {
  await page.goto('/sign-in?next=//example.org/');
  await signInByForm(page);
  await expect(page).toHaveURL(/127\.0\.0\.1/);
});

for (const scheme of ['light', 'dark'] as const) {
  test(`the sign-in page is accessible, ${scheme}, at phone width`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto('/sign-in');
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
    await expectAccessible(page);
    await expectNoSideways(page);
  });
}

test.describe('in a browser that speaks Chinese', () => {
  test.use({ locale: 'zh-CN' });
  test('the console does too', async ({ page }) => {
    await page.goto('/sign-in');
    await expect(page.getByRole('button', { name: '登录' })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
    await page.getByRole('button', { name: '语言' }).click();
    await page.getByRole('menuitem', { name: 'English' }).click();
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
    await page.reload();
    await expect(page.getByRole('button', { name: 'Sign in' })).toBeVisible();
  });
});
