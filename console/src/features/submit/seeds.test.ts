import { expect, test } from 'vitest';
import { filesOf, seedOf } from './seeds';

test('data of a storage is seen below /data, under its own name', () => {
  expect(filesOf('home/sets/digits', undefined)).toEqual({
    data: [{ storage: 'home', source: 'sets/digits', path: '/data/digits' }],
  });
});

test('a whole storage is seen under its name', () => {
  expect(filesOf('shared', undefined)).toEqual({ data: [{ storage: 'shared', path: '/data/shared' }] });
});

test('code is named by storage and path', () => {
  expect(filesOf(undefined, 'home/train')).toEqual({ code: { storage: 'home', path: 'train' } });
});

test('a form that begins with nothing has no seed', () => {
  expect(seedOf(undefined, undefined)).toBeUndefined();
  expect(seedOf('home/a', undefined)).not.toBe(seedOf('home/b', undefined));
});
