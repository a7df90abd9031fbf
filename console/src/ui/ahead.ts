import type { Job } from '@/api/client';

/** Why a job waits for its turn; whatever else it waits for, no place in line helps it. */
const IN_LINE = new Set<Job['reason']['code']>([
  'submitted',
  'insufficient_resources',
  'behind_others',
  'reserved_for_another',
]);

/** How many jobs start before a waiting one; null where nobody is ahead and it is not next either. */
export function aheadOf({ position, reason }: Pick<Job, 'position' | 'reason'>): number | null {
  return position === 0 && !IN_LINE.has(reason.code) ? null : position;
}
