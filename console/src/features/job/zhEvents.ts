import type { ReasonCode } from '@/api/client';
import { words } from '@/ui/words';

type Data = Record<string, unknown>;

const { reasons, states } = words.zh;
const why = (data: Data) => reasons[data.reason as ReasonCode] ?? '';
const by = (data: Data) => (data.by ? `（${data.by}）` : '');
const causes: Record<string, string> = { oom: '，内存不足', stopped: '，被停止', lost: '，丢失' };

/** Events told in Chinese, from their data; kinds that are not here are shown as the server tells them. */
export const ZH_EVENTS: Record<string, (data: Data) => string> = {
  submitted: () => '已提交',
  waiting: (data) => `等待：${why(data)}`,
  starting: () => '正在启动子任务',
  running: () => '所有子任务都在运行',
  task_started: (data) => `子任务 ${data.task} 开始运行`,
  task_exited: (data) =>
    `子任务 ${data.task} 退出，退出码 ${data.exit_code}${causes[String(data.cause)] ?? ''}`,
  task_lost: (data) => `子任务 ${data.task} 丢失`,
  task_retried: (data) => `子任务 ${data.task} 第 ${data.run} 次重启`,
  stop_asked: (data) => `请求停止：${why(data)}${by(data)}`,
  stopping: (data) => `正在停止：${why(data)}`,
  requeued: (data) => `重新排队：${why(data)}`,
  succeeded: () => states.SUCCEEDED,
  failed: (data) => `${states.FAILED}：${why(data)}`,
  stopped: (data) => `${states.STOPPED}：${why(data)}`,
  delete_asked: (data) => `${data.for_good ? '彻底删除' : '放入回收站'}${by(data)}`,
  restored: (data) => `从回收站恢复${by(data)}`,
  released: (data) => `保留的环境已释放${by(data)}`,
};
