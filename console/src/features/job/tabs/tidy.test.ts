import { expect, test } from 'vitest';
import type { JobEvent } from '@/api/client';
import { milestones, tidy } from './tidy';

let seq = 0;
const event = (
  kind: JobEvent['kind'],
  message: string,
  data: JobEvent['data'] = {},
  attempt = 0,
): JobEvent => ({
  seq: ++seq,
  at: '2026-03-01T10:00:00Z',
  job_id: 'x',
  kind,
  attempt,
  actor: '',
  message,
  message_code: 'text',
  cause: null,
  params: {},
  data,
});
const kinds = (told: { event: JobEvent }[]) => told.map(({ event: { kind } }) => kind);

test('a sentence is told once, however many events have it', () => {
  const halted = 'stopped by ann; its results are kept';
  const found = tidy([event('stop_asked', halted), event('stopping', halted), event('stopped', halted)]);
  expect(found.map(({ isTold }) => isTold)).toEqual([false, true, true]);
});

test('a job that failed with its task tells the same once', () => {
  const found = tidy([
    event('task_exited', 'task main-0 exited with code 137', { exit_code: 137 }),
    event('failed', 'task main-0 exited with code 137 (signal 9)'),
  ]);
  expect(found.map(({ isTold }) => isTold)).toEqual([false, true]);
});

test('each attempt tells its own', () => {
  const found = tidy([event('failed', 'exit 1'), event('failed', 'exit 1', {}, 1)]);
  expect(found.every(({ isTold }) => !isTold)).toBe(true);
});

test('what went well with single tasks is no milestone', () => {
  const life = [
    event('submitted', 'submitted'),
    event('starting', 'starting'),
    event('step', 'code unpacked'),
    event('task_started', 'task main-0 runs'),
    event('running', 'the task runs'),
    event('task_exited', 'task main-0 exited with code 0', { exit_code: 0 }),
    event('succeeded', 'all tasks succeeded'),
  ];
  expect(kinds(milestones(life))).toEqual(['submitted', 'starting', 'running', 'succeeded']);
});

test('of many failed tasks some are told', () => {
  const lost = Array.from({ length: 100 }, (_, n) => event('task_exited', `task ${n}`, { exit_code: 1 }));
  expect(milestones(lost)).toHaveLength(5);
});
