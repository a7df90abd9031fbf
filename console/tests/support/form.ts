import type { Page } from '@playwright/test';
import { expect, signIn } from './bench';

export const name = (page: Page) => page.getByLabel('Name', { exact: true });
export const editor = (page: Page) => page.getByRole('textbox', { name: 'The job file as text' });
export const review = (page: Page) => page.getByRole('button', { name: 'Review and submit' });
export const step = (page: Page, title: string) =>
  page.getByRole('listitem').getByRole('button', { name: title });

export async function open(page: Page): Promise<void> {
  await signIn(page);
  await page.goto('/submit');
  await expect(name(page)).toBeVisible();
}

/** Put a whole text into the editor, as somebody who pastes does. */
export async function write(page: Page, text: string): Promise<void> {
  await editor(page).click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(text);
}

/** Agree to the final configuration, and see the job's page. */
export async function confirm(page: Page): Promise<string> {
  await expect(review(page)).toBeEnabled();
  await review(page).click();
  const dialog = page.getByRole('dialog', { name: 'Submit this job?' });
  await dialog.getByRole('button', { name: 'Submit' }).click();
  await expect(page).toHaveURL(/\/jobs\/\w{12}/);
  return /\/jobs\/(\w{12})/.exec(page.url())?.[1] ?? '';
}

export interface Detail {
  name: string;
  config: { roles: unknown[]; strategy?: string };
  tasks: { name: string }[];
}
