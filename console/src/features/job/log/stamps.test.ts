import { describe, expect, it } from 'vitest';
import { stampOf, timeOf } from './stamps';

const TIMES = [
  [100, 10],
  [101, 25],
  [109, 40],
] as const;

describe('the times of lines', () => {
  it('are those of the first look that found the line begun', () => {
    expect(timeOf(TIMES, 0)).toBe(100);
    expect(timeOf(TIMES, 9)).toBe(100);
    expect(timeOf(TIMES, 10)).toBe(101);
    expect(timeOf(TIMES, 39)).toBe(109);
  });

  it('are unknown where nobody has looked yet', () => {
    expect(timeOf(TIMES, 40)).toBeUndefined();
    expect(timeOf([], 0)).toBeUndefined();
  });

  it('are as wide when unknown as when known', () => {
    for (const isDated of [true, false])
      expect(stampOf(undefined, isDated)).toHaveLength(stampOf(1_700_000_000, isDated).length);
    expect(stampOf(undefined, false).trim()).toBe('');
    expect(stampOf(1_700_000_000, false)).toMatch(/^\d\d:\d\d:\d\d {2}$/);
  });
});
