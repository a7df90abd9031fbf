import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('icons are for the eye alone: none adds its name to what is read aloud', () => {
  const folder = new URL('..', import.meta.url).pathname;
  const loud = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.endsWith('.tsx'))
    .flatMap((entry) => {
      const text = readFileSync(join(entry.parentPath, entry.name), 'utf8');
      return [...text.matchAll(/<\w+(?:Outlined|Filled)\b(?! aria-hidden)/g)].map(
        ([found]) => `${entry.name}: ${found}`,
      );
    });
  expect(loud).toEqual([]);
});
