import { expect, test } from 'vitest';
import { money } from './money';

test('money has two digits, and more where two would be nothing', () => {
  expect(money(12.345, 'EUR')).toBe('12.35 EUR');
  expect(money(0.0042, 'EUR')).toBe('0.0042 EUR');
  expect(money(0, '')).toBe('0.00');
});
