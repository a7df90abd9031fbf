import type { Schemas } from '@/api/client';
import { translated } from '@/i18n/translated';

type Estimate = Schemas['EstimateBody'];

/** The same in Chinese, by what the server's sentence names. */
export function zhBasis({ basis, expected_at, latest_at }: Estimate): string {
  const names = (what: string) => basis.includes(what);
  const pauses = names('it pauses') ? '；重试之前先暂停一段时间' : '';
  if (expected_at === null) {
    const why = names('no time limit')
      ? '前面有任务没有时间上限，也没有同类任务的历史'
      : '仅凭其他任务的结束还不能启动，或前面的任务太多';
    return `无法估计：${why}${pauses}`;
  }
  const sources = [
    names('usual run times') && '同类任务通常的运行时间',
    names('time limits') && '时间上限',
  ].filter(Boolean);
  const told = sources.length > 0 ? `按${sources.join('和')}估计` : '前面没有时长未知的任务';
  const unbounded = latest_at === null ? '；前面有任务没有时间上限，因此没有最迟时间' : '';
  return `${told}${unbounded}${pauses}`;
}

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
    ahead: (n: number) => (n === 0 ? 'next in line' : `${n} ahead`),
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
    ahead: (n: number) => (n === 0 ? '下一个' : `前面还有 ${n} 个`),
    priority: '优先级',
    priorityOf: (name: string) => `${name} 的优先级`,
    priorityHint: '数值越大越先启动：-1000 到 1000',
    changed: (name: string, priority: number) => `${name} 的优先级已改为 ${priority}`,
    asks: '申请',
    why: '等待原因',
    start: '启动',
    latest: '最迟',
    noEstimate: '尚不确定',
    basis: zhBasis,
    waitsSince: '开始等待',
  },
});
