import { describe, expect, test } from 'vitest';
import { sentence } from './formProblems';

describe('what the server says of a field', () => {
  test.each([
    ['must be a number', 'This must be a number'],
    ['there is no queue x', 'There is no queue x'],
    ['jobName: must be letters', 'jobName: must be letters'],
    ['taskRoles[0].memoryMB: must be more', 'taskRoles[0].memoryMB: must be more'],
  ])('%s', (told, said) => expect(sentence(told)).toBe(said));
});
