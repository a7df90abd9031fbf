import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { zhOf } from './zhMessages';

/** What a real server said of many bad job files; `tests/api/test_api_refusals.py` keeps it complete. */
const refusals: string[] = JSON.parse(
  readFileSync(fileURLToPath(new URL('./refusals.json', import.meta.url)), 'utf8'),
);

// Names of things, values and units, which are the same in every language.
const SAME =
  /FOOTPLATE_\w+|PAI_X|GPUs?|CPU|GB|TB|MB|KB|JSON|Unicode|TensorFlow|Docker|NaN|shelf|nowhere|elsewhere|[\w'./:$*+-]*[._/'0-9:][\w'./:$*+-]*/g;

test('every refusal of a job file has its Chinese', () => {
  expect(refusals.length).toBeGreaterThan(90);
  expect(refusals.filter((message) => zhOf(message) === undefined)).toEqual([]);
});

test('no English sentence is left inside', () => {
  const english = refusals
    .map((message) => [zhOf(message) ?? '', message] as const)
    .filter(([told]) => {
      const rest = told.replace(SAME, ' ');
      return /[a-z]{2,}( [a-z]{2,}){2,}/i.test(rest);
    });
  expect(english).toEqual([]);
});

test('numbers, names and bounds stay in the sentence', () => {
  expect(zhOf('asks for 9 GPUs in one task; the largest node has 8')).toBe(
    '每个子任务需要 9 张 GPU；最大的节点只有 8',
  );
  expect(zhOf('asks for 100GB of memory in one task; the largest node of queue q has 16GB')).toBe(
    '每个子任务需要 100GB 内存；队列 q 的最大的节点只有 16GB',
  );
  expect(zhOf('role w asks for 5 GPUs, 1 CPU and 256GB of memory in one task; no node has all of that')).toBe(
    '角色 w 的每个子任务需要 5 张 GPU、1 核 CPU、256GB 内存；没有节点同时具备',
  );
  expect(zhOf('must be from 1 to 10000, not 0')).toBe('必须在 1 到 10000 之间，不能是 0');
  expect(zhOf('too many failed logins; try again in 12 s')).toBe('登录失败次数过多；请在 12 秒后重试');
  expect(zhOf('job abc has no output: its tasks have written nothing to $FOOTPLATE_OUTPUT_DIR')).toBe(
    '任务 abc 没有输出：其子任务没有向 $FOOTPLATE_OUTPUT_DIR 写入任何内容',
  );
});

test('what no rule knows is left to the server’s own words', () => {
  expect(zhOf('something quite new')).toBeUndefined();
});
