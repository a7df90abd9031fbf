import type { JobEvent } from '@/api/client';

export interface ToldEvent {
  event: JobEvent;
  /** Its sentence was told by an earlier event of the attempt: what kind it is says enough. */
  isTold: boolean;
}

/** Events as they happened, those marked that only repeat what was said before. */
export function tidy(events: readonly JobEvent[]): ToldEvent[] {
  const told = new Set<string>();
  return events.map((event, index) => {
    const said = JSON.stringify([event.attempt, event.message_code, event.message]);
    const isTold = told.has(said) || isFaultOf(events[index - 1], event);
    told.add(said);
    return { event, isTold };
  });
}

/** Whether a job failed by what its task has just been said to have done. */
function isFaultOf(before: JobEvent | undefined, event: JobEvent): boolean {
  if (event.kind !== 'failed' || !before || before.at !== event.at) return false;
  return before.kind === 'task_exited' || before.kind === 'task_lost';
}

const MILESTONES = new Set([
  'submitted',
  'starting',
  'running',
  'hang',
  'hang_over',
  'task_lost',
  'task_retried',
  'stop_asked',
  'end_delayed',
  'requeued',
  'succeeded',
  'failed',
  'stopped',
  'released',
  'delete_asked',
  'restored',
]);
/** So many failures and restarts of single tasks are told; the rest is among the events. */
const MOST_OF_TASKS = 5;

/** The steps of an attempt that matter for its whole. */
export function milestones(events: readonly JobEvent[]): ToldEvent[] {
  let nTasks = 0;
  return tidy(events).filter(({ event: { kind, data } }) => {
    const isFailure = kind === 'task_exited' && data.exit_code !== 0;
    if (isFailure || kind.startsWith('task_')) {
      if (!isFailure && !MILESTONES.has(kind)) return false;
      nTasks += 1;
      return nTasks <= MOST_OF_TASKS;
    }
    return MILESTONES.has(kind) || (kind === 'stopping' && data.reason === 'kept');
  });
}
