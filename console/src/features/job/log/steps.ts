import type { JobEvent } from '@/api/client';
import { tidy } from '../tabs/tidy';
import type { LogPlace } from './source';

const BEFORE = new Set(['submitted', 'waiting', 'starting', 'step', 'running']);
const AFTER = new Set([
  'task_exited',
  'task_lost',
  'stop_asked',
  'requeued',
  'succeeded',
  'failed',
  'stopped',
]);

/** What happened before the first line of a task's output, and after the last. */
export function stepsAround(events: readonly JobEvent[], place: LogPlace): [JobEvent[], JobEvent[]] {
  const own = events.filter((event) => event.attempt === place.attempt && concerns(event, place.task));
  const pick = (kinds: Set<string>) =>
    tidy(own.filter((event) => kinds.has(event.kind)))
      .filter(({ isTold }) => !isTold)
      .map(({ event }) => event);
  return [pick(BEFORE), pick(AFTER)];
}

/** What happened to a job is for all its tasks, even where one of them is named as the cause. */
function concerns(event: JobEvent, task: string): boolean {
  return !event.kind.startsWith('task_') || event.data.task === task;
}
