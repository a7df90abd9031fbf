import { expect, test } from 'vitest';
import { lineAt, rowsIn, rowsOf } from './rows';

const TEN = { columns: 10, wide: 2 };

test('what steers a terminal takes no room, a tab takes as much as to its stop', () => {
  const lines = [
    '',
    '\x1b[31m0123456789\x1b[0m',
    'a\tb\tcd',
    'a\tb\tcde',
    '\t\t012',
    '训练训练训',
    '训练训练训a',
  ];
  expect(lines.map((line) => rowsIn(line, TEN))).toEqual([1, 1, 1, 2, 2, 1, 2]);
});

test('a wide character that does not fit into the last column begins a new row', () => {
  expect(rowsIn(`a${'训'.repeat(9)}`, TEN)).toBe(2);
  expect(rowsIn(`${'a训训训训训'.repeat(2)}`, TEN)).toBe(3);
  expect(rowsIn('训'.repeat(5), { columns: 9, wide: 2 })).toBe(2);
  expect(rowsIn('012345678\t1', TEN)).toBe(2);
});

test('East Asian characters are as wide as the font draws them', () => {
  expect(rowsIn('训'.repeat(6), { columns: 10.2, wide: 5 / 3 })).toBe(1);
  expect(rowsIn('训'.repeat(7), { columns: 10.2, wide: 5 / 3 })).toBe(2);
  expect(rowsIn('0123456789', { columns: 10.9, wide: 5 / 3 })).toBe(1);
  expect(rowsIn('0123456789a', { columns: 10.9, wide: 5 / 3 })).toBe(2);
});

test('long lines take several rows, and each row leads back to its line', () => {
  const lines = ['', 'x'.repeat(10), 'x'.repeat(11), 'x'.repeat(35)];
  const rows = rowsOf(lines.length, (index) => lines[index] ?? '', TEN);
  expect([...rows]).toEqual([0, 1, 2, 4, 8]);
  expect([0, 1, 2, 3, 4, 7, 99].map((row) => lineAt(rows, row))).toEqual([0, 1, 2, 2, 3, 3, 3]);
  expect([...rowsOf(0, () => '', TEN)]).toEqual([0]);
  expect(
    lineAt(
      rowsOf(0, () => '', TEN),
      5,
    ),
  ).toBe(0);
});
