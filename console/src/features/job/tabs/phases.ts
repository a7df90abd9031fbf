import type { JobEvent } from '@/api/client';

export type PhaseName = 'waiting' | 'preparing' | 'running' | 'kept';

export interface Phase {
  name: PhaseName;
  seconds: number;
}

const ENDS = new Set(['succeeded', 'failed', 'stopped', 'requeued']);
const TASK_ENDS = new Set(['task_exited', 'task_lost']);

/** What an attempt did for how long; `begin` is when it began to wait, and one that is not over goes on until now. */
export function phasesOf(
  events: readonly JobEvent[],
  begin: string | undefined,
  isOver: boolean,
  now: number,
): Phase[] {
  const at = (kind: string) => timeOf(events.find((event) => event.kind === kind));
  const lastEnd = events.findLast(({ kind }) => ENDS.has(kind));
  const end = timeOf(lastEnd ?? (isOver ? events.at(-1) : undefined)) ?? now;
  const marks: [PhaseName, number | undefined][] = [
    ['waiting', begin === undefined ? undefined : Date.parse(begin)],
    ['preparing', at('starting')],
    ['running', at('running')],
    ['kept', keptSince(events)],
  ];
  const known = marks.filter((mark): mark is [PhaseName, number] => mark[1] !== undefined);
  return known.map(([name, from], index) => {
    const to = Math.max(from, known[index + 1]?.[1] ?? end);
    return { name, seconds: (to - from) / 1000 };
  });
}

/** When the last task had ended of an attempt whose environment is kept for a look inside. */
function keptSince(events: readonly JobEvent[]): number | undefined {
  const kept = events.find(({ kind, data }) => kind === 'stopping' && data.reason === 'kept');
  const lastExit = events.findLast(({ kind }) => TASK_ENDS.has(kind));
  return kept && Math.max(timeOf(kept) ?? 0, timeOf(lastExit) ?? 0);
}

const timeOf = (event: JobEvent | undefined) => event && Date.parse(event.at);
