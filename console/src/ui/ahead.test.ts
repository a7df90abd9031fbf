import { describe, expect, it } from 'vitest';
import type { Job } from '@/api/client';
import { aheadOf } from './ahead';

const waiting = (position: number | null, code: Job['reason']['code']) =>
  aheadOf({ position, reason: { code } as Job['reason'] });

describe('who is next', () => {
  it('is a job that waits for room and has nobody ahead', () => {
    expect(waiting(0, 'insufficient_resources')).toBe(0);
    expect(waiting(3, 'behind_others')).toBe(3);
  });

  it('is never a second one that something else holds up', () => {
    expect(waiting(0, 'no_node')).toBeNull();
    expect(waiting(0, 'queue_limit')).toBeNull();
    expect(waiting(2, 'queue_limit')).toBe(2);
    expect(waiting(null, 'running')).toBeNull();
  });
});
