import { expect, test } from 'vitest';
import { listOf, parseSearch, stringifySearch } from '@/app/search';
import { ownPath } from '@/features/auth/ownPath';
import { readSearch } from '@/features/jobs/search';
import { bytes, bytesOf, number } from './amounts';
import { relative, span } from './time';

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
  expect([0.04, 9.94, 59.9, 200, 7500, 100_000].map(span)).toEqual([
    '0.0s',
    '9.9s',
    '59s',
    '3m 20s',
    '2h 05m',
    '1d 03h',
  ]);
});

test('moments are told from now in both languages', () => {
  expect(relative(-200, 'en')).toBe('3 min ago');
  expect(relative(7300, 'en')).toBe('in 2 hr');
  expect(relative(-2, 'zh')).toBe('现在');
  expect(relative(-90_000, 'zh')).toBe('昨天');
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
