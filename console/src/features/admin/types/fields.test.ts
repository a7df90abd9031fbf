import { describe, expect, it } from 'vitest';
import { frameworkBody, frameworkFields, POSITIVE, POSITIVE_OR_NONE, typeBody, typeFields } from './fields';

const GB = 1024 ** 3;

describe('the form of an instance type', () => {
  const filled = { ...typeFields(), name: 'a100', cpus: '16', memory_bytes: '1.5' };

  it('counts memory in GB, and takes empty boxes for none', () => {
    expect(typeBody(filled)).toEqual({
      cpus: 16,
      memory_bytes: 1.5 * GB,
      gpus: 0,
      gpu_type: '',
      shm_bytes: null,
      description: '',
      position: 0,
    });
  });

  it('shows what was saved', () => {
    const body = typeBody({ ...filled, gpus: '2', gpu_type: 'A100', shm_bytes: '8', position: '-3' });
    const times = { created_at: '', updated_at: '', fit_now: 1, fit_at_most: 1 };
    const saved = { ...body, ...times, name: 'a100' } as Parameters<typeof typeFields>[0];
    expect(typeBody(typeFields(saved))).toEqual(body);
  });

  it('takes no amount of nothing', () => {
    for (const text of ['0', '0.0', '-1', '1,5', 'x', '']) expect(POSITIVE.test(text)).toBe(false);
    for (const text of ['1', '0.5', '16']) expect(POSITIVE.test(text)).toBe(true);
    expect(POSITIVE_OR_NONE.test('')).toBe(true);
  });
});

describe('the form of a framework', () => {
  it('has packages as lines', () => {
    const fields = { ...frameworkFields(), environment: 'torch==2.4\n\n numpy ', python: '3.12' };
    expect(frameworkBody(fields).environment).toEqual({
      requirements: ['torch==2.4', 'numpy'],
      python: '3.12',
    });
  });

  it('takes empty boxes for no environment', () => {
    expect(frameworkBody(frameworkFields()).environment).toBeNull();
  });
});
