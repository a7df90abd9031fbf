import { expect, test } from 'vitest';
import { pathsOf, rangeOf, short } from './curves';

test('a curve goes from the first step at the left to the last at the right, large values on top', () => {
  expect(pathsOf({ steps: [10, 20, 30], values: [0, 5, 10] }, 100, 50)).toEqual(['M0 50L50 25L100 0']);
});

test('what is no number breaks the line, and a point alone is still seen', () => {
  expect(pathsOf({ steps: [0, 1, 2, 3], values: [1, null, 3, 2] }, 90, 10)).toEqual([
    'M0 10h1',
    'M60 0L90 5',
  ]);
});

test('a level curve lies in the middle', () => {
  expect(pathsOf({ steps: [1, 2], values: [4, 4] }, 10, 10)).toEqual(['M0 5L10 5']);
});

test('values are told in few digits', () => {
  expect([0, 0.123456, 12345.678, 0.00001234, Number.NaN].map(short)).toEqual([
    '0',
    '0.1235',
    '12350',
    '1.23e-5',
    '–',
  ]);
  expect(rangeOf([null, 2, 1])).toEqual([1, 2]);
});
