import type { ReasonCode } from '@/api/client';
import { bytes, number } from './amounts';
import { zhDetail } from './zhDetails';

export type Details = Record<string, unknown>;

const DIMENSIONS = ['gpus', 'milli_cpus', 'memory_bytes'] as const;
type Dimension = (typeof DIMENSIONS)[number];
type Amounts = Partial<Record<Dimension | 'tasks', number>>;

const figure: Record<Dimension, (n: number) => string> = {
  gpus: (n) => `${n} 张`,
  milli_cpus: (n) => `${number(n / 1000)} 核`,
  memory_bytes: bytes,
};
const amount: Record<Dimension, (n: number) => string> = {
  gpus: (n) => `${n} 张 GPU`,
  milli_cpus: (n) => `${number(n / 1000)} 核 CPU`,
  memory_bytes: (n) => `${bytes(n)} 内存`,
};

const amounts = (wanted: Amounts) =>
  DIMENSIONS.filter((dimension) => wanted[dimension])
    .map((dimension) => amount[dimension](wanted[dimension] ?? 0))
    .join('、');
const of = (details: Details, key: string) => (details[key] ?? {}) as Amounts;
const joined = (...clauses: (string | false | undefined)[]) => clauses.filter(Boolean).join('；');
const names = (value: unknown) => (Array.isArray(value) ? value.join('、') : '');

const UNITS: [string, number][] = [
  ['天', 86_400],
  ['小时', 3600],
  ['分钟', 60],
  ['秒', 1],
];

/** A length of time in the largest unit that says enough of it. */
export function zhSpan(seconds: number): string {
  const [name, size] = UNITS.find(([, size]) => seconds >= size) ?? ['秒', 1];
  return `${number(seconds / size)} ${name}`;
}

const moment = (at: unknown) =>
  new Intl.DateTimeFormat('zh-CN', { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(typeof at === 'number' ? at * 1000 : String(at)),
  );

/** A moment to the second, for those that are near. */
export const second = (at: unknown) =>
  new Intl.DateTimeFormat('zh-CN', { dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(String(at)));

function wouldFit(details: Details): string {
  const { role, ...fit } = (details.would_fit ?? {}) as { role?: string } & Record<
    string,
    number | undefined
  >;
  const each = (of(details, 'needed').tasks ?? 1) > 1 ? '每个子任务 ' : '';
  const asks = [
    fit.gpus_per_task && `${each}${amount.gpus(fit.gpus_per_task)}`,
    fit.milli_cpus_per_task && `${each}${amount.milli_cpus(fit.milli_cpus_per_task)}`,
    fit.memory_bytes_per_task && `${each}${amount.memory_bytes(fit.memory_bytes_per_task)}`,
    fit.tasks && `${fit.tasks} 个子任务`,
    fit.time_limit_s && `时间上限不超过 ${zhSpan(fit.time_limit_s)}`,
  ].filter(Boolean);
  return asks.length > 0 ? `${role ? `角色 ${role} ` : ''}改为 ${asks.join(' 或 ')} 即可立即启动` : '';
}

/** When or where a job that is next on its nodes will start. */
function outlook({ expected_start_at, reserved_nodes }: Details): string {
  if (typeof expected_start_at === 'number') return `最迟 ${moment(expected_start_at)} 启动`;
  return Array.isArray(reserved_nodes) ? `节点 ${names(reserved_nodes)} 已为它预留` : '';
}

function shortage(details: Details): string {
  const [needed, free, capacity] = [of(details, 'needed'), of(details, 'free'), of(details, 'capacity')];
  const n = needed.tasks ?? 1;
  const short = details.short_of as Dimension | null | undefined;
  if (!short) {
    const where = n > 1 ? `同时运行 ${n} 个子任务` : '在一个节点上';
    return `需要${where}，共 ${amounts(needed)}；目前没有足够的整块空闲资源`;
  }
  const type = short === 'gpus' && details.gpu_type ? `（${details.gpu_type}）` : '';
  const tasks = n > 1 ? `，分 ${n} 个子任务` : '';
  const isScattered = (free[short] ?? 0) >= (needed[short] ?? 0);
  const others = Number(details.gpus_in_use_by_others ?? 0);
  return joined(
    `需要 ${amount[short](needed[short] ?? 0)}${type}${tasks}`,
    `共 ${figure[short](capacity[short] ?? 0)}，空闲 ${figure[short](free[short] ?? 0)}${isScattered ? '，但分散而不够用' : ''}`,
    short === 'gpus' && others > 0 && `${others} 张被其他程序占用`,
  );
}

const waits = (details: Details) =>
  details.needed ? joined(shortage(details), wouldFit(details), outlook(details)) : '';
const ahead = (details: Details) => (Number(details.ahead) > 0 ? `前面有 ${details.ahead} 个任务` : '');

/** What is more than a queue may use in all, or more than is left of that. */
function overMaximum(details: Details): string {
  const [needed, used, most] = [of(details, 'needed'), of(details, 'used'), of(details, 'maximum')];
  const isOver = (left: Amounts) => (dimension: Dimension) =>
    (needed[dimension] ?? 0) > (left[dimension] ?? 0);
  const never = DIMENSIONS.find(isOver(most));
  const asks = (short: Dimension) =>
    `需要 ${amount[short](needed[short] ?? 0)}；队列 ${details.queue} 最多可用 ${figure[short](most[short] ?? 0)}`;
  if (never) return asks(never);
  const left = Object.fromEntries(DIMENSIONS.map((name) => [name, (most[name] ?? 0) - (used[name] ?? 0)]));
  const short = DIMENSIONS.find(isOver(left));
  return short ? `${asks(short)}，已用 ${figure[short](used[short] ?? 0)}` : '';
}

/** Why a job does not fit even on empty nodes. */
function misfit(details: Details): string {
  const needed = of(details, 'needed');
  const largest = details.largest as Amounts | undefined;
  const dimension = DIMENSIONS.find((name) => largest?.[name] !== undefined);
  if (dimension) {
    const asked = amount[dimension](needed[dimension] ?? 0);
    const most = largest?.[dimension] ?? 0;
    if (dimension === 'gpus' && details.gpu_type && !most) {
      const there = names(details.gpu_types);
      return `需要 ${asked}（${details.gpu_type}）；${there ? `节点上只有 ${there}` : '没有这种 GPU'}`;
    }
    if (dimension === 'gpus' && !most) return `需要 ${asked}；没有配 GPU 的节点`;
    return `每个子任务需要 ${asked}；最大的节点只有 ${figure[dimension](most)}`;
  }
  if (details.tasks_that_fit !== undefined) {
    return `需要同时运行 ${details.tasks} 个子任务，每个 ${amounts(needed)}；节点最多容纳 ${details.tasks_that_fit} 个`;
  }
  if (details.n_roles !== undefined)
    return `${details.tasks} 个子任务共需 ${amounts(needed)}；全部节点也无法同时容纳`;
  return details.needed ? `每个子任务需要 ${amounts(needed)}；没有节点同时具备` : '';
}

function queueLimit(details: Details): string {
  if (details.obstacle === 'no_queue') return `队列 ${details.queue} 不存在`;
  if (details.obstacle === 'queue_closed') return `队列 ${details.queue} 已关闭，重新开放后才会启动任务`;
  return details.maximum ? joined(overMaximum(details), ahead(details)) : '';
}

function reserved(details: Details): string {
  if (!details.head) return '';
  const needs = `需要 ${amounts(of(details, 'needed'))}`;
  const why =
    details.obstacle === 'kept_in_queue'
      ? `队列 ${details.queue} 剩余的额度已为前面的任务 ${details.head} 保留`
      : `资源有空闲，但已为前面的任务 ${details.head} 预留`;
  return joined(needs, why, wouldFit(details), ahead(details));
}

/** Whether there is a signal of that number on the machines that run tasks. */
const isSignal = (n: number) => (n >= 1 && n <= 31) || n === 34 || n === 64;

/** Why a failure was the last one. */
function whyLast({ tries, rule, rule_times, retries_left }: Details): string {
  if (rule !== undefined && rule_times !== undefined) {
    const times = Number(rule_times);
    return times > 0
      ? `on_failure 的第 ${rule} 条规则：${times} 次重试已用完`
      : `按 on_failure 的第 ${rule} 条规则不再重试`;
  }
  if (retries_left !== undefined) return '不再重试：再试也只会同样失败';
  return tries !== undefined ? `共尝试 ${tries} 次` : '';
}

/** How a task failed: which one, with which exit code, how many others. */
function failure(code: unknown, details: Details): string {
  const { task, exit_code, n_failed, n_tasks, role, min_failed, detail } = details;
  const tried = whyLast(details);
  if (code === 'launch_failed' && detail) return joined(`无法启动：${detail}`, tried);
  if (task === undefined) return '';
  const exit = Number(exit_code);
  const bySignal = isSignal(exit - 128) ? `（信号 ${exit - 128}）` : '';
  const told = zhDetail(detail);
  const how: Record<string, string> = {
    task_lost: told ? `丢失：${told}` : '丢失',
    out_of_memory: `${told ?? '超出内存上限'}，被终止，退出码 ${exit_code}${bySignal}`,
  };
  return joined(
    Number(n_failed) > 1 &&
      `${role ? `角色 ${role} 的 ` : ''}${n_tasks} 个子任务中有 ${n_failed} 个失败${min_failed ? `（min_failed ${min_failed}）` : ''}`,
    `${Number(n_failed) > 1 && role ? '最后一个：' : ''}子任务 ${task} ${how[String(code)] ?? `以退出码 ${exit_code} 结束${bySignal}`}`,
    tried,
  );
}

function retrying(details: Details): string {
  if (details.retry === undefined) return '';
  const rule = details.rule ? `按 on_failure 的第 ${details.rule} 条规则` : '';
  const whose = details.account === 'transient' ? '因平台故障' : rule;
  const away = details.avoids ? `，避开节点 ${details.avoids}` : '';
  return joined(
    failure(details.cause, details),
    `${whose}第 ${details.retry} 次重试，最多 ${details.retries} 次${away}`,
  );
}

function retryLater(details: Details): string {
  const what = retrying(details);
  return what && joined(what, `不早于 ${second(details.not_before)}`, ahead(details));
}

function kept(details: Details): string {
  const how = failure(details.cause, details);
  return how && joined(how, `环境保留至 ${moment(details.kept_until)}，可进入查看`);
}

const by = (details: Details, what: string) => (details.by ? `由 ${details.by} ${what}` : '');

/**
 * Reasons in Chinese, from their numbers; empty where those do not say what the server's sentence says.
 *
 * A reason that the API adds and this table lacks does not compile.
 */
export const ZH_REASONS: Record<ReasonCode, (details: Details) => string> = {
  submitted: () => '调度器尚未处理',
  insufficient_resources: (details) => joined(waits(details), ahead(details)),
  behind_others: (details) => joined(ahead(details), waits(details)),
  reserved_for_another: reserved,
  queue_limit: queueLimit,
  no_node: (details) =>
    details.n_nodes === 0
      ? `${details.queue ? `队列 ${details.queue} ` : ''}没有在用的节点`
      : misfit(details),
  no_ports: () => '所需的端口正被占用',
  storage_silent: ({ storage }) => (storage ? `存储 ${storage} 没有响应：文件服务器是否离线？` : ''),
  retrying,
  retry_later: retryLater,
  preparing: ({ n_tasks, nodes }) =>
    nodes ? `可在 ${names(nodes)} 上启动` : n_tasks ? `正在启动 ${n_tasks} 个子任务` : '',
  running: ({ n_tasks }) => (Number(n_tasks) > 1 ? `${n_tasks} 个子任务都在运行` : '子任务正在运行'),
  completed: ({ role, n_succeeded, n_failed, n_tasks }) =>
    n_succeeded === undefined
      ? joined('所有子任务都已完成', Number(n_failed) > 0 && `${n_tasks} 个中有 ${n_failed} 个失败`)
      : `${n_tasks} 个 ${role} 子任务中有 ${n_succeeded} 个成功，已满足要求`,
  task_failed: (details) => failure('task_failed', details),
  task_lost: (details) => failure('task_lost', details),
  out_of_memory: (details) => failure('out_of_memory', details),
  hang: ({ tasks, since, has_stacks }) =>
    since
      ? joined(
          `子任务 ${names(tasks)} 自 ${second(since)} 起没有进展：没有输出，也没有使用 CPU 或 GPU`,
          Boolean(has_stacks) && '各子任务的调用栈见事件',
        )
      : '',
  kept,
  launch_failed: (details) => failure('launch_failed', details),
  stopped_by_user: (details) => by(details, '停止'),
  halted: (details) => joined(by(details, '暂停'), '已有的结果可以下载'),
  idle: ({ idle_limit_s }) =>
    idle_limit_s ? `空闲 ${zhSpan(Number(idle_limit_s))}：没有输出，也没有使用 CPU 或 GPU；资源已收回` : '',
  deleted: (details) => by(details, '删除'),
  time_limit: ({ time_limit_s }) => (time_limit_s ? `运行时间达到上限 ${zhSpan(Number(time_limit_s))}` : ''),
  disk_quota: ({ taken_bytes, quota_bytes }) =>
    taken_bytes && quota_bytes
      ? `其文件占用 ${bytes(Number(taken_bytes))}，每个任务最多 ${bytes(Number(quota_bytes))}`
      : '',
  deadline: ({ deadline }) => (deadline ? `截止时间 ${moment(deadline)} 已过` : ''),
  preempted: (details) => joined(by(details, '要求让出资源'), '等待再次运行，从检查点继续'),
  never_fits: (details) => (details.maximum ? overMaximum(details) : misfit(details)),
};
