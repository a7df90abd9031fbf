import { describe, expect, it } from 'vitest';
import { DAYS, fieldsOf, maximumOf, readEnvironments, retentionOf, shareOf } from './fields';

const EMPTY = fieldsOf();

describe('the form of a queue', () => {
  it('takes empty boxes for no share and no limit', () => {
    expect(shareOf(EMPTY, 'share')).toEqual({ cpus: 0, memory_bytes: 0, gpus: 0 });
    expect(maximumOf(EMPTY)).toBeNull();
  });

  it('tells a limit of zero from none', () => {
    expect(maximumOf({ ...EMPTY, maximum_gpus: '0' })).toEqual({ cpus: null, memory_bytes: null, gpus: 0 });
  });

  it('counts memory in GB', () => {
    expect(shareOf({ ...EMPTY, share_gb: '1.5' }, 'share').memory_bytes).toBe(1.5 * 1024 ** 3);
  });

  it('counts what is kept in days, tells for ever from what is not said, and reads its own writing', () => {
    const given = { ...EMPTY, keep_logs: '30', keep_outputs: 'none', keep_work: '0.5' };
    const kept = { logs: 30 * 86_400, outputs: null, work: 43_200 };
    expect(retentionOf(given)).toEqual(kept);
    expect(retentionOf(EMPTY)).toEqual({});
    const queue = { retention: { ...kept, code: 600 } } as unknown as Parameters<typeof fieldsOf>[0];
    expect(retentionOf(fieldsOf(queue))).toEqual({ ...kept, code: 600 });
    expect(['', '7', '0.25', 'none'].every((text) => DAYS.test(text))).toBe(true);
    expect(['week', '-1', '1d'].some((text) => DAYS.test(text))).toBe(false);
  });

  it('reads a line for each environment and names the one that is wrong', () => {
    expect(readEnvironments('torch:2 = /srv/a\n\n x=/srv/b c').found).toEqual({
      'torch:2': '/srv/a',
      x: '/srv/b c',
    });
    expect(readEnvironments('torch = /srv/a\ntorch srv').badLine).toBe(2);
  });
});
