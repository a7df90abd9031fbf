import { expect, test } from 'vitest';
import type { Mapping } from './document';
import { offersOf } from './offers';

const GB = 1024 ** 3;
const roles: Mapping[] = [{ name: 'ps' }, { name: 'worker', count: 3 }, { command: 'x' }];

test('a job of one role is offered what fits it', () => {
  const offers = offersOf({ milli_cpus_per_task: 500, tasks: 2 }, { command: 'x', count: 3 });
  expect(offers.map(({ path, value }) => [path, value])).toEqual([
    [['cpus'], 0.5],
    [['count'], 2],
  ]);
  expect(offersOf({ memory_bytes_per_task: 2 * GB + 7 }, { roles: [{ name: 'a' }] })).toMatchObject([
    { path: ['roles', 0, 'memory'], value: '2GB' },
  ]);
});

test('a job of several roles is offered a change of the role that is named', () => {
  expect(offersOf({ role: 'worker', tasks: 2 }, { roles })).toMatchObject([
    { path: ['roles', 1, 'count'], value: 2, role: 'worker' },
  ]);
  expect(offersOf({ role: 'main', gpus_per_task: 1 }, { roles })).toMatchObject([
    { path: ['roles', 2, 'gpus'], value: 1 },
  ]);
  expect(offersOf({ role: 'gone', tasks: 1 }, { roles })).toEqual([]);
});

test('a time limit is offered with some seconds to spare, in whole minutes', () => {
  expect(offersOf({ time_limit_s: 5430 }, { roles })).toMatchObject([
    { kind: 'time_limit', path: ['time_limit'], value: '1h30m' },
  ]);
  expect(offersOf({ time_limit_s: 80 }, { command: 'x' })).toEqual([]);
});
