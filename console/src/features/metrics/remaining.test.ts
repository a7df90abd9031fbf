import { expect, test } from 'vitest';
import { roughly } from './remaining';

test('a guess of the time left is no more exact than it can be', () => {
  expect(roughly(59.6)).toBe(60);
  expect(roughly(1976)).toBe(33 * 60);
  expect(roughly(100_000)).toBe(28 * 3600);
});
