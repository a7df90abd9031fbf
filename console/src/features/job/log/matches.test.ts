import { expect, test, vi } from 'vitest';
import { Matches, MOST_AT_ONCE, type Part } from './matches';

const PART = 1000;

/** A log in which every hundredth byte begins a match. */
function log(nMatches: number) {
  const read = vi.fn(async (before: number): Promise<Part> => {
    const newest = Math.min(nMatches, Math.ceil(before / 100)) - 1;
    const offsets = Array.from({ length: Math.min(PART, newest + 1) }, (_, n) => (newest - n) * 100);
    const last = offsets.at(-1) ?? 0;
    return { offsets, before: last > 0 ? last : null };
  });
  const shown: number[] = [];
  const matches = new Matches(read, (offset) => shown.push(offset));
  const settled = () => vi.waitFor(() => expect(matches.current().isBusy).toBe(false));
  return { read, shown, matches, settled };
}

test('the newest comes first, and round from the earliest to it', async () => {
  const { matches, shown, settled } = log(3);
  matches.start();
  await settled();
  for (let n = 0; n < 4; n += 1) matches.step(1);
  matches.step(-1);
  matches.step(-1);
  expect(shown).toEqual([200, 100, 0, 200, 0, 100]);
  expect(matches.current()).toMatchObject({ count: 3, isAll: true, at: 1 });
});

test('of very many only the newest are read, and earlier ones once somebody comes to them', async () => {
  const { read, matches, shown, settled } = log(12_000);
  matches.start();
  await settled();
  expect(matches.current()).toMatchObject({ count: MOST_AT_ONCE, isAll: false });
  expect(read).toHaveBeenCalledTimes(MOST_AT_ONCE / PART);
  for (let n = 0; n < MOST_AT_ONCE; n += 1) matches.step(1);
  expect(shown.at(-1)).toBe((12_000 - MOST_AT_ONCE) * 100);
  matches.step(1);
  await settled();
  expect(shown.at(-1)).toBe((12_000 - MOST_AT_ONCE - 1) * 100);
  expect(matches.current()).toMatchObject({ count: 2 * MOST_AT_ONCE, at: MOST_AT_ONCE });
});

test('who asks before the answer is there is led to the newest when it comes', async () => {
  const { matches, shown, settled } = log(2);
  matches.start();
  matches.step(1);
  expect(shown).toEqual([]);
  await settled();
  expect(shown).toEqual([100]);
});

test('who asked while typing is led there too, once', async () => {
  const { matches, shown, settled } = log(2500);
  matches.start(true);
  await settled();
  expect(shown).toEqual([249_900]);
});

test('a search that fails says so, and what is not there is not gone to', async () => {
  const shown: number[] = [];
  const matches = new Matches(
    async () => Promise.reject(new Error('gone')),
    (offset) => shown.push(offset),
  );
  matches.start(true);
  await vi.waitFor(() => expect(matches.current().error).toBeInstanceOf(Error));
  expect(shown).toEqual([]);
});
