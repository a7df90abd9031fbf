import { expect, test } from 'vitest';
import { columnsOf, lineAt, rowsOf } from './rows';

test('columns are counted as a terminal counts them', () => {
  expect(['', 'abc', '\x1b[31mred\x1b[0m', 'a\tb', '训练', 'a训b'].map(columnsOf)).toEqual([
    0, 3, 3, 5, 4, 4,
  ]);
});

test('long lines take several rows, and each row leads back to its line', () => {
  const lines = ['', 'x'.repeat(10), 'x'.repeat(11), 'x'.repeat(35)];
  const rows = rowsOf(lines.length, (index) => lines[index] ?? '', 10);
  expect([...rows]).toEqual([0, 1, 2, 4, 8]);
  expect([0, 1, 2, 3, 4, 7, 99].map((row) => lineAt(rows, row))).toEqual([0, 1, 2, 2, 3, 3, 3]);
  expect([...rowsOf(0, () => '', 10)]).toEqual([0]);
  expect(
    lineAt(
      rowsOf(0, () => '', 10),
      5,
    ),
  ).toBe(0);
});
