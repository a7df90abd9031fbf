import { describe, expect, it } from 'vitest';
import { areaOf, partsOf } from './LastDay';

const amount = (gpus: number) => ({ gpus, cpus: 0, memory_bytes: 0 });

describe('the last day', () => {
  it('is told as parts of what there is', () => {
    const points = [amount(0), amount(2), null, amount(9)];
    expect(partsOf({ points, total: amount(8) }, 'gpus')).toEqual([0, 0.25, undefined, 1]);
    expect(partsOf({ points, total: amount(0) }, 'gpus')).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('draws a step for each part that was taken, and nothing for the rest', () => {
    expect(areaOf([0, 0.5, undefined, 1])).toBe('M72 32v-16h72V32zM216 32v-32h72V32z');
    expect(areaOf([])).toBe('');
  });

  it('shows the least use as a line, since it was not nothing', () => {
    expect(areaOf([0.0001])).toBe('M0 32v-1h288V32z');
  });
});
