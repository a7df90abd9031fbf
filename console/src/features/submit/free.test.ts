import { expect, test } from 'vitest';
import { freeOf, roomOf } from './free';

const gpu = (index: number, type: string, job_id: string | null = null, in_use_by_others = false) => ({
  index,
  type,
  memory_bytes: 0,
  job_id,
  in_use_by_others,
});
const node = (name: string, gpus: ReturnType<typeof gpu>[], cpus = 8, is_schedulable = true) => ({
  name,
  cpus,
  memory_bytes: 16,
  gpus,
  is_schedulable,
  free: { cpus: 2, memory_bytes: 4, gpus: 0 },
});
const queue = (nodes: string[] = []) => ({
  nodes,
  maximum: null,
  used: { cpus: 0, memory_bytes: 0, gpus: 0 },
});
const NODES = [
  node('a', [gpu(0, 'A100'), gpu(1, 'A100', 'job'), gpu(2, 'V100', null, true)]),
  node('b', [], 32),
  node('drained', [gpu(0, 'A100')], 8, false),
];

test('cards are counted by their type, those of others and of drained nodes are not free', () => {
  expect(freeOf(NODES, queue()).cards).toEqual([
    { type: 'A100', free: 1, all: 2 },
    { type: 'V100', free: 0, all: 1 },
  ]);
  expect(freeOf(NODES, queue()).cpus).toEqual({ free: 4, all: 40 });
  expect(freeOf(NODES, queue()).largest).toEqual({ cpus: 8, memory_bytes: 16, gpus: 3 });
});

test('a queue with nodes of its own sees only those', () => {
  expect(freeOf(NODES, queue(['b']))).toMatchObject({ cards: [], cpus: { free: 2, all: 32 } });
  expect(freeOf(NODES, queue(['gone'])).largest).toBeUndefined();
});

test('what is left of a maximum is never below nothing, and what has none is not told', () => {
  const used = { cpus: 3, memory_bytes: 0, gpus: 4 };
  expect(roomOf({ nodes: [], maximum: null, used })).toBeUndefined();
  expect(roomOf({ nodes: [], maximum: { cpus: 4, memory_bytes: null, gpus: 2 }, used })).toEqual({
    cpus: 1,
    gpus: 0,
  });
});
