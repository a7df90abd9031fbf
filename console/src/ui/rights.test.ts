import { expect, test } from 'vitest';
import type { Me } from '@/api/client';
import { mayFetch, maySubmit, mayTouch } from './rights';

const person = (name: string, role?: 'viewer' | 'member' | 'admin'): Me => ({
  name,
  is_admin: false,
  job_id: null,
  queues: role ? [{ name: 'lab', role }] : [],
});
const job = { owner: 'ann', queue: 'lab', is_readable: true };

test('owners change their jobs while they may submit, admins of the queue change all', () => {
  expect(mayTouch(person('ann', 'member'), job)).toBe(true);
  expect(mayTouch(person('ann', 'viewer'), job)).toBe(false);
  expect(mayTouch(person('bob', 'member'), job)).toBe(false);
  expect(mayTouch(person('bob', 'admin'), job)).toBe(true);
  expect(mayTouch({ ...person('root'), is_admin: true }, job)).toBe(true);
  expect(mayTouch(undefined, job)).toBe(false);
});

test('who may only look neither submits nor fetches files', () => {
  expect(maySubmit(person('bob', 'viewer'), 'lab')).toBe(false);
  expect(mayFetch(person('bob', 'viewer'), job)).toBe(false);
  expect(mayFetch(person('bob', 'member'), job)).toBe(true);
  expect(mayFetch(person('ann'), job)).toBe(true);
  expect(mayFetch(person('bob', 'member'), { ...job, is_readable: false })).toBe(false);
});
