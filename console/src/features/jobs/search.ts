import type { JobState } from '@/api/client';
import { listOf, textOf } from '@/app/search';
import { ALL_STATES } from '@/ui/jobState';

export const PAGE_SIZE = 50;

export const SORTS = ['submitted_at', 'finished_at', 'name', 'priority', 'state', 'owner', 'queue'] as const;
export type Sort = (typeof SORTS)[number];
export const DEFAULT_SORT = '-submitted_at';

/** What the list shows, all of it in the address: a link says what its sender saw. */
export interface JobsSearch {
  search?: string;
  state?: JobState[];
  queue?: string[];
  owner?: string[];
  tag?: string;
  trash?: boolean;
  sort?: string;
  after?: string;
}

export function readSearch(given: Record<string, unknown>): JobsSearch {
  const states = listOf(given.state)?.filter((state): state is JobState =>
    ALL_STATES.includes(state as JobState),
  );
  const sort = textOf(given.sort);
  const isKnown = SORTS.some((name) => name === sort?.replace(/^-/, ''));
  return {
    search: textOf(given.search),
    state: states && states.length > 0 ? states : undefined,
    queue: listOf(given.queue),
    owner: listOf(given.owner),
    tag: textOf(given.tag),
    trash: given.trash === true || given.trash === 'true' || undefined,
    sort: isKnown && sort !== DEFAULT_SORT ? sort : undefined,
    after: textOf(given.after),
  };
}
