import { expect, test } from 'vitest';
import type { JobEvent } from '@/api/client';
import { stepsAround } from './steps';

const event = (kind: string, task?: string, attempt = 0) =>
  ({ kind, attempt, data: { task } }) as unknown as JobEvent;
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
