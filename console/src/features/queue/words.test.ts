import { expect, test } from 'vitest';
import { zhBasis } from './words';

const at = '2026-11-15T12:00:00Z';

test('the basis of an estimate names in Chinese what the sentence of the server names', () => {
  expect(zhBasis({ basis: 'from time limits', expected_at: at, latest_at: at })).toBe('按时间上限估计');
  expect(zhBasis({ basis: 'from usual run times and time limits', expected_at: at, latest_at: at })).toBe(
    '按同类任务通常的运行时间和时间上限估计',
  );
  const open = 'from usual run times; no later bound, since the job before it has no time limit';
  expect(zhBasis({ basis: open, expected_at: at, latest_at: null })).toContain('没有最迟时间');
});

test('what nobody can tell has its own cause in Chinese', () => {
  const unheard =
    'nobody can tell: the job before it has no time limit, and nothing like it has run before; it pauses before it is tried again';
  const told = zhBasis({ basis: unheard, expected_at: null, latest_at: null });
  expect(told).toContain('没有时间上限，也没有同类任务的历史');
  expect(told).toContain('暂停');
});
