import { describe, expect, it } from 'vitest';
import { readRequirements, requirementsText } from './requirements';

describe('the packages of a job', () => {
  it.each([
    ['', undefined],
    ['\n # only a note\n', undefined],
    ['requirements.txt', 'requirements.txt'],
    ['env/train.in', 'env/train.in'],
    ['numpy', ['numpy']],
    ['numpy>=2\n\n torch ; python_version<"3.13"\n', ['numpy>=2', 'torch ; python_version<"3.13"']],
    ['requirements.txt\nnumpy', ['requirements.txt', 'numpy']],
  ])('are read from %j', (text, read) => {
    expect(readRequirements(text)).toEqual(read);
  });

  it('are shown as they are read', () => {
    expect(requirementsText(['a', 'b==1'])).toBe('a\nb==1');
    expect(requirementsText('requirements.txt')).toBe('requirements.txt');
    expect(requirementsText(undefined)).toBe('');
  });
});
