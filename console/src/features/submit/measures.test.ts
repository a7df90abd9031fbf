import { expect, test } from 'vitest';
import { sizeText, splitSize } from './measures';

test.each([
  ['512MB', 'GB', '512MB'],
  ['512 mb', 'GB', '512MB'],
  ['4g', 'MB', '4GB'],
  ['4Gi', 'MB', '4GB'],
  ['1.5', 'TB', '1.5TB'],
  ['  2 ', 'GB', '2GB'],
  ['', 'GB', undefined],
  // Neither a size nor a number: it is left as it is, to be marked.
  ['512B', 'GB', '512B'],
  ['many', 'GB', 'many'],
])('%s in a box of %s is %s', (typed, unit, size) => {
  expect(sizeText(typed, unit)).toBe(size);
});

test('a size is split into its number and its unit', () => {
  expect(splitSize('64MiB')).toEqual({ amount: '64', unit: 'MB' });
  expect(splitSize('64')).toBeUndefined();
});
