import type { ReasonCode } from '@/api/client';
import { bytes } from '@/ui/amounts';
import { zhReason } from '@/ui/Reason';
import { words } from '@/ui/words';
import { zhDetail } from '@/ui/zhDetails';
import { second, zhSpan } from '@/ui/zhReasons';

type Data = Record<string, unknown>;
type Teller = (data: Data, message: string) => string;

const { reasons, states } = words.zh;
const by = (data: Data) => (data.by ? `（${data.by}）` : '');
const causes: Record<string, string> = { oom: '，内存不足', stopped: '，被停止', lost: '，丢失' };
const steps: Record<string, string> = {
  code: '代码就位',
  image: '镜像就绪',
  data: '数据就位',
  launch: '启动完成',
};
const fields: Record<string, string> = { name: '名称', description: '描述', priority: '优先级' };
const actions: Record<string, string> = { restart: '将重启', stop: '将停止', notify: '仅通知' };

/** How a task ended, from what follows its end in the server's sentence. */
const told = (message: string) => {
  const how = zhDetail(message.slice(message.indexOf(': ') + 2));
  return how && `，${how}`;
};

/** A reason with its numbers; with the server's own words where only those say more. */
function why(data: Data, message: string): string {
  const code = data.reason as ReasonCode;
  const title = reasons[code];
  return title ? `${title}：${zhReason(code, data) || message}` : message;
}

/** What the engine saw besides a good end, in its own words. */
const aside = (data: Data) => (data.exit_code === 0 && data.detail ? `（${data.detail}）` : '');

/** Events told in Chinese, from their data; kinds that are not here are shown as the server tells them. */
export const ZH_EVENTS: Record<string, Teller> = {
  submitted: (_, message) => {
    const queue = /^submitted to queue (\S+)$/.exec(message)?.[1];
    return queue ? `已提交到队列 ${queue}` : '已提交';
  },
  waiting: why,
  starting: (data) => zhReason('preparing', data) || '正在启动子任务',
  step: (data, message) =>
    steps[String(data.step)] ? `${steps[String(data.step)]}，用时 ${zhSpan(Number(data.seconds))}` : message,
  running: (data) => zhReason('running', data),
  task_started: (data) => `子任务 ${data.task} 开始运行`,
  task_exited: (data, message) =>
    `子任务 ${data.task} 退出，退出码 ${data.exit_code}${told(message) ?? causes[String(data.cause)] ?? aside(data)}`,
  task_lost: (data, message) => `子任务 ${data.task} 丢失${told(message) ?? ''}`,
  task_retried: (data) =>
    `子任务 ${data.task} 第 ${data.run} 次重启${data.not_before ? `，不早于 ${second(data.not_before)}` : ''}`,
  hang: (data, message) =>
    `子任务长时间没有进展，${actions[String(data.action)] ?? ''}：${Array.isArray(data.tasks) ? data.tasks.join('、') : message}`,
  hang_over: (data) => `子任务 ${Array.isArray(data.tasks) ? data.tasks.join('、') : ''} 又有了进展`,
  stop_asked: (data, message) => why(data, message),
  stopping: (data, message) => `正在停止：${why(data, message)}`,
  end_delayed: (_, message) => {
    const tasks = /^(?:some processes of )?(.+?) cannot be ended: SIGKILL/.exec(message)?.[1];
    return tasks
      ? `${tasks} 的进程暂时无法结束：内核在等待没有响应的文件服务器或设备，SIGKILL 不起作用；系统会不断重试，在此之前资源仍被占用`
      : message;
  },
  requeued: (data, message) => `重新排队：${why(data, message)}`,
  succeeded: (data, message) => zhReason('completed', data) || message,
  failed: (data, message) => `${states.FAILED}：${why(data, message)}`,
  stopped: (data, message) => `${states.STOPPED}：${why(data, message)}`,
  edited: (data, message) => {
    const changed = Object.keys((data.changes ?? {}) as object);
    return changed.length > 0 ? `修改了${changed.map((name) => fields[name] ?? name).join('、')}` : message;
  },
  delete_asked: (data) => `${data.for_good ? '彻底删除' : '放入回收站'}${by(data)}`,
  restored: (data) => `从回收站恢复${by(data)}`,
  released: (data) => `保留的环境已释放${by(data)}`,
  deleted: (data) => `任务已删除，释放 ${bytes(Number(data.freed_bytes ?? 0))}`,
};
