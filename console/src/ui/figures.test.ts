import { expect, test } from 'vitest';
import { listOf, parseSearch, stringifySearch } from '@/app/search';
import { ownPath } from '@/features/auth/ownPath';
import { readSearch } from '@/features/jobs/search';
import { bytes, bytesOf, number } from './amounts';
import { clock, relative, span } from './time';

test('amounts are written shortly', () => {
  expect([0, 1023, 1024, 1536, 5 * 1024 ** 3].map(bytes)).toEqual([
    '0 B',
    '1023 B',
    '1 KB',
    '1.5 KB',
    '5 GB',
  ]);
  expect(bytesOf(384 * 1024 ** 2, 16 * 1024 ** 3)).toBe('0.38 / 16 GB');
  expect([0.25, 1, 1.5, 10.04].map(number)).toEqual(['0.25', '1', '1.5', '10']);
});

test('spans of time fit into a column', () => {
  expect([0.35, 112, 7500, 86_400, 100_000].map((seconds) => span(seconds, 'zh'))).toEqual([
    '0.35 秒',
    '1 分 52 秒',
    '2 小时 5 分',
    '1 天',
    '1 天 3 小时',
  ]);
  expect(
    [0, 0.004, 0.02, 0.994, 9.94, 59.9, 200, 7500, 86_400, 100_000].map((seconds) => span(seconds, 'en')),
  ).toEqual(['0s', '0s', '0.02s', '0.99s', '9.9s', '59s', '3m 20s', '2h 05m', '1d', '1d 03h']);
});

test('moments are told from now in both languages', () => {
  const told = [-2, 2, 59.9, -200, 119, 3599, 3600 + 58 * 60, -80 * 60, 20 * 3600];
  expect(told.map((seconds) => relative(seconds, 'en'))).toEqual([
    'just now',
    'now',
    'in 59 sec',
    '3 min ago',
    'in 2 min',
    'in 1 hr',
    'in 2 hr',
    '1.5 hr ago',
    'in 20 hr',
  ]);
  expect(relative(-2, 'zh')).toBe('刚刚');
  expect(relative(2, 'zh')).toBe('现在');
  expect(relative(-80 * 60, 'zh')).toBe('1.5 小时前');
});

test('yesterday is the day before this one, not two before it', () => {
  const early = new Date(2026, 2, 11, 2).getTime();
  expect(relative(-25 * 3600, 'en', early)).toBe('yesterday');
  expect(relative(-30 * 3600, 'en', early)).toBe('2 days ago');
  expect(relative(-30 * 3600, 'zh', early)).toBe('前天');
  expect(relative(40 * 3600, 'en', early)).toBe('tomorrow');
});

test('a time of another day has its date', () => {
  const at = new Date(2026, 2, 11, 2, 3, 4, 56).toISOString();
  expect(clock(at)).toBe('2026-03-11 02:03:04.056');
  expect(clock(at, false)).toBe('02:03:04.056');
  expect(clock(new Date().toISOString())).toMatch(/^\d\d:\d\d:\d\d\.\d{3}$/);
});

test('what is in the address comes back from it', () => {
  const search = { search: 'a b&c', state: ['FAILED', 'STOPPED'], trash: true, after: 'x=y', tag: undefined };
  expect(readSearch(parseSearch(stringifySearch(search)))).toMatchObject({
    search: 'a b&c',
    state: ['FAILED', 'STOPPED'],
    trash: true,
    after: 'x=y',
  });
  expect(stringifySearch({ state: ['FAILED', 'STOPPED'] })).toBe('?state=FAILED,STOPPED');
});

test('an address that somebody made up shows the whole list', () => {
  const read = readSearch({ state: 'NONSENSE', sort: 'secret', queue: ',', trash: 'no' });
  expect(Object.values(read).every((value) => value === undefined)).toBe(true);
  expect(listOf(7)).toBeUndefined();
});

test('only paths of our own are led to after a sign-in', () => {
  expect(ownPath('/jobs?state=FAILED')).toBe('/jobs?state=FAILED');
  for (const bad of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:x', '', 7]) {
    expect(ownPath(bad)).toBeUndefined();
  }
});
