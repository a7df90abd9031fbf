import { describe, expect, it } from 'vitest';
import { fieldsOf, maximumOf, readEnvironments, shareOf } from './fields';

const EMPTY = fieldsOf();

describe('the form of a queue', () => {
  it('takes empty boxes for no guarantee and no limit', () => {
    expect(shareOf(EMPTY, 'guaranteed')).toEqual({ cpus: 0, memory_bytes: 0, gpus: 0 });
    expect(maximumOf(EMPTY)).toBeNull();
  });

  it('tells a limit of zero from none', () => {
    expect(maximumOf({ ...EMPTY, maximum_gpus: '0' })).toEqual({ cpus: null, memory_bytes: null, gpus: 0 });
  });

  it('counts memory in GB', () => {
    expect(shareOf({ ...EMPTY, guaranteed_gb: '1.5' }, 'guaranteed').memory_bytes).toBe(1.5 * 1024 ** 3);
  });

  it('reads a line for each environment and names the one that is wrong', () => {
    expect(readEnvironments('torch:2 = /srv/a\n\n x=/srv/b c').found).toEqual({
      'torch:2': '/srv/a',
      x: '/srv/b c',
    });
    expect(readEnvironments('torch = /srv/a\ntorch srv').badLine).toBe(2);
  });
});
