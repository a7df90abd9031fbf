import { expect, test } from 'vitest';
import type { JobEvent } from '@/api/client';
import { stepsAround } from './steps';

let at = 0;
const event = (kind: string, task?: string, attempt = 0) => {
  at += 1;
  return { kind, attempt, at, message: `${kind} ${task} ${at}`, data: { task } } as unknown as JobEvent;
};
const kinds = (events: JobEvent[]) => events.map(({ kind }) => kind);

test("a job's end is told in the logs of all tasks, also where it names the one that failed", () => {
  const events = [
    event('submitted'),
    event('step'),
    event('task_started', 'main-1'),
    event('task_exited', 'main-0'),
    event('task_exited', 'main-1'),
    event('failed', 'main-1'),
    event('requeued', 'main-1'),
    event('failed', 'main-1', 1),
  ];
  const [before, after] = stepsAround(events, { jobId: 'j', task: 'main-0', attempt: 0 });
  expect(kinds(before)).toEqual(['submitted', 'step']);
  expect(after).toEqual([events[3], events[5], events[6]]);
});

test('a job that fails by what its task did says so once', () => {
  const exited = event('task_exited', 'main-0');
  const failed = { ...event('failed'), at: exited.at };
  const place = { jobId: 'j', task: 'main-0', attempt: 0 };
  expect(stepsAround([exited, failed], place)[1]).toEqual([exited]);
  expect(stepsAround([exited, { ...failed, at: '2026-01-01T00:00:00Z' }], place)[1]).toHaveLength(2);
});
