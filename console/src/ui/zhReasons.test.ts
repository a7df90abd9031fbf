import { expect, test } from 'vitest';
import { ZH_REASONS, zhSpan } from './zhReasons';

const GB = 1024 ** 3;

test('a shortage is told with its numbers, the nearest ask and the place in line', () => {
  const details = {
    needed: { gpus: 8, milli_cpus: 8000, memory_bytes: 8 * GB, tasks: 2 },
    free: { gpus: 2, milli_cpus: 4000, memory_bytes: 4 * GB },
    capacity: { gpus: 8, milli_cpus: 16_000, memory_bytes: 64 * GB },
    short_of: 'gpus',
    gpu_type: 'A100',
    would_fit: { gpus_per_task: 1, tasks: 1 },
    ahead: 3,
  };
  const told =
    '需要 8 张 GPU（A100），分 2 个子任务；共 8 张，空闲 2 张；改为 每个子任务 1 张 GPU 或 1 个子任务 即可立即启动';
  expect(ZH_REASONS.insufficient_resources({ ...details, ahead: 0 })).toBe(told);
  expect(ZH_REASONS.behind_others(details)).toBe(`前面有 3 个任务；${told}`);
});

test('limits of queues and nodes are told apart', () => {
  const needed = { gpus: 2, milli_cpus: 1000, memory_bytes: GB };
  const maximum = { gpus: 4, milli_cpus: 4000, memory_bytes: 8 * GB };
  const used = { ...maximum, gpus: 3 };
  expect(ZH_REASONS.queue_limit({ queue: 'lab', needed, maximum, used, obstacle: 'over_maximum' })).toBe(
    '需要 2 张 GPU；队列 lab 最多可用 4 张，已用 3 张',
  );
  expect(ZH_REASONS.queue_limit({ queue: 'lab', needed, obstacle: 'queue_closed' })).toContain('已关闭');
  expect(ZH_REASONS.never_fits({ needed, largest: { gpus: 0 }, gpu_type: 'H9', gpu_types: ['A100'] })).toBe(
    '需要 2 张 GPU（H9）；节点上只有 A100',
  );
  expect(ZH_REASONS.never_fits({ needed, tasks: 9, tasks_that_fit: 4 })).toBe(
    '需要同时运行 9 个子任务，每个 2 张 GPU、1 核 CPU、1 GB 内存；节点最多容纳 4 个',
  );
  expect(ZH_REASONS.no_node({ needed, n_nodes: 0, queue: 'lab' })).toBe('队列 lab 没有在用的节点');
});

test('failures name the task, its exit code and the retries', () => {
  const failed = { task: 'worker-0', exit_code: 137, n_failed: 2, n_tasks: 4, class: 'unknown' };
  expect(ZH_REASONS.task_failed({ ...failed, tries: 3 })).toBe(
    '4 个子任务中有 2 个失败；子任务 worker-0 以退出码 137 结束（信号 9）；共尝试 3 次',
  );
  expect(ZH_REASONS.task_failed({ ...failed, role: 'worker', min_failed: 2 })).toBe(
    '角色 worker 的 4 个子任务中有 2 个失败（min_failed 2）；最后一个：子任务 worker-0 以退出码 137 结束（信号 9）',
  );
  expect(ZH_REASONS.task_failed({ ...failed, exit_code: 255, n_failed: 1 })).toBe(
    '子任务 worker-0 以退出码 255 结束',
  );
  const retry = { ...failed, n_failed: 1, cause: 'task_lost', account: 'transient', retry: 1, retries: 5 };
  expect(ZH_REASONS.retrying({ ...retry, avoids: 'n1' })).toBe(
    '子任务 worker-0 丢失；因平台故障第 1 次重试，最多 5 次，避开节点 n1',
  );
});

test('a failure that is not tried again says why', () => {
  const failed = { task: 'main-0', exit_code: 127, n_failed: 1, n_tasks: 1 };
  expect(ZH_REASONS.task_failed({ ...failed, rule: 2, rule_times: 3 })).toContain(
    'on_failure 的第 2 条规则：3 次重试已用完',
  );
  expect(ZH_REASONS.task_failed({ ...failed, rule: 1, rule_times: 0 })).toContain(
    '按 on_failure 的第 1 条规则不再重试',
  );
  expect(ZH_REASONS.task_failed({ ...failed, retries_left: 2 })).toContain('再试也只会同样失败');
  expect(ZH_REASONS.retrying({ ...failed, cause: 'task_failed', rule: 2, retry: 1, retries: 3 })).toContain(
    '按 on_failure 的第 2 条规则第 1 次重试，最多 3 次',
  );
});

test('a success in spite of failures counts them', () => {
  expect(ZH_REASONS.completed({})).toBe('所有子任务都已完成');
  expect(ZH_REASONS.completed({ n_failed: 2, n_tasks: 4 })).toBe('所有子任务都已完成；4 个中有 2 个失败');
});

test('a hang says since when, and where the stacks are', () => {
  const told = ZH_REASONS.hang({ tasks: ['main-0'], since: '2026-11-15T12:03:07.000Z', has_stacks: true });
  expect(told).toContain('子任务 main-0 自');
  expect(told).toContain('调用栈见事件');
});

test('out of memory is told with limit and peak', () => {
  const failed = { task: 'main-0', exit_code: 137, n_failed: 1, n_tasks: 1 };
  const detail = 'out of memory: its limit is 64MB, its peak was 63.9MB';
  expect(ZH_REASONS.out_of_memory({ ...failed, detail })).toBe(
    '子任务 main-0 内存不足：上限 64MB，峰值 63.9MB，被终止，退出码 137（信号 9）',
  );
  const machine = 'out of memory: the machine had none left, while the task used 1GB of its 4GB';
  expect(ZH_REASONS.out_of_memory({ ...failed, detail: machine })).toContain('使用了上限 4GB 中的 1GB');
  expect(ZH_REASONS.task_lost({ ...failed, detail: 'the machine was restarted while the task ran' })).toBe(
    '子任务 main-0 丢失：运行期间机器重启',
  );
});

test('a pause before a retry is told with what failed and until when', () => {
  const details = {
    cause: 'launch_failed',
    detail: 'registry.example is away',
    account: 'transient',
    retry: 3,
    retries: 8,
    not_before: '2026-11-15T12:03:07.000Z',
    pause_s: 2,
    ahead: 0,
  };
  const at = new Intl.DateTimeFormat('zh-CN', { dateStyle: 'medium', timeStyle: 'medium' }).format(
    new Date(details.not_before),
  );
  expect(ZH_REASONS.retry_later(details)).toBe(
    `无法启动：registry.example is away；因平台故障第 3 次重试，最多 8 次；不早于 ${at}`,
  );
  expect(ZH_REASONS.launch_failed({ ...details, tries: 9 })).toBe(
    '无法启动：registry.example is away；共尝试 9 次',
  );
});

test('what an older server left out is not made up', () => {
  const silent = Object.entries(ZH_REASONS)
    .filter(([, tell]) => tell({}) === '')
    .map(([code]) => code);
  for (const code of [
    'insufficient_resources',
    'task_failed',
    'retrying',
    'retry_later',
    'kept',
    'time_limit',
    'hang',
  ]) {
    expect(silent).toContain(code);
  }
  for (const tell of Object.values(ZH_REASONS)) expect(tell({})).not.toMatch(/undefined|NaN|null|Invalid/);
});

test('lengths of time are told in one unit', () => {
  expect([5, 90, 7200, 129_600].map(zhSpan)).toEqual(['5 秒', '1.5 分钟', '2 小时', '1.5 天']);
});
