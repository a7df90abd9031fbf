import { expect, test } from 'vitest';
import type { JobEvent } from '@/api/client';
import { phasesOf } from './phases';

const START = Date.parse('2026-03-01T10:00:00Z');
const at = (second: number) => new Date(START + second * 1000).toISOString();
const event = (second: number, kind: JobEvent['kind'], data: JobEvent['data'] = {}): JobEvent => ({
  seq: second,
  at: at(second),
  job_id: 'x',
  kind,
  attempt: 0,
  actor: '',
  message: '',
  message_code: 'text',
  cause: null,
  params: {},
  data,
});
const running = [event(0, 'submitted'), event(3, 'starting'), event(5, 'running')];
const kept = [
  ...running,
  event(15, 'task_exited', { exit_code: 1 }),
  event(15, 'stopping', { reason: 'kept' }),
  event(18, 'task_exited', { exit_code: 143 }),
];
const phases = (events: JobEvent[], nowS: number, isOver = false) =>
  phasesOf(events, at(0), isOver, START + nowS * 1000).map(({ name, seconds }) => `${name} ${seconds}`);

test('a job that runs goes on until now', () => {
  expect(phases(running, 60)).toEqual(['waiting 3', 'preparing 2', 'running 55']);
});

test('a job that failed and is kept ran until its last task ended; the rest is kept', () => {
  expect(phases(kept, 100)).toEqual(['waiting 3', 'preparing 2', 'running 13', 'kept 82']);
});

test('what was kept ends with the job', () => {
  expect(phases([...kept, event(50, 'released'), event(51, 'failed')], 1000, true)).toEqual([
    'waiting 3',
    'preparing 2',
    'running 13',
    'kept 33',
  ]);
});
