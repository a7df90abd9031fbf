import type { Schemas } from '@/api/client';
import { translated } from '@/i18n/translated';

type Estimate = Schemas['EstimateBody'];

export const words = translated({
  en: {
    title: 'Queue',
    all: 'All queues',
    queue: 'Queue',
    order: 'Who starts next',
    count: (shown: number, all: number) =>
      shown === all ? `${all} waiting` : `${shown} of ${all} waiting are shown`,
    nothing: 'Nothing waits',
    nothingHint: 'A job that is submitted now is looked at at once.',
    submit: 'Submit a job',
    job: 'Job',
    priority: 'Priority',
    priorityOf: (name: string) => `Priority of ${name}`,
    priorityHint: 'Higher starts first: -1000 to 1000',
    changed: (name: string, priority: number) => `${name} now has priority ${priority}`,
    asks: 'Asks for',
    why: 'Why it waits',
    start: 'Starts',
    latest: 'at the latest',
    noEstimate: 'not known yet',
    /** What an estimate rests on; the server tells it in English. */
    basis: ({ basis }: Estimate): string => basis,
    waitsSince: 'Waits since',
  },
  zh: {
    title: '排队',
    all: '全部队列',
    queue: '队列',
    order: '启动顺序',
    count: (shown: number, all: number) =>
      shown === all ? `${all} 个等待` : `共 ${all} 个等待，显示 ${shown} 个`,
    nothing: '没有任务在等待',
    nothingHint: '现在提交的任务会立即得到处理。',
    submit: '提交任务',
    job: '任务',
    priority: '优先级',
    priorityOf: (name: string) => `${name} 的优先级`,
    priorityHint: '数值越大越先启动：-1000 到 1000',
    changed: (name: string, priority: number) => `${name} 的优先级已改为 ${priority}`,
    asks: '申请',
    why: '等待原因',
    start: '启动',
    latest: '最迟',
    noEstimate: '尚不确定',
    basis: ({ expected_at, latest_at }: Estimate): string => {
      if (expected_at === null) return '无法估计：有正在运行的任务没有时间上限，也没有同类任务的历史';
      return latest_at === null
        ? '按同类任务通常的运行时间估计；有正在运行的任务没有时间上限，因此没有最迟时间'
        : '按同类任务通常的运行时间和时间上限估计';
    },
    waitsSince: '开始等待',
  },
});
