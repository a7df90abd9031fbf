import { translated } from '@/i18n/translated';
import type { News } from './line';

export const words = translated({
  en: {
    task: 'Task of the terminal',
    open: 'Open terminal',
    close: 'Close terminal',
    hint: 'A shell in the task: its variables, files and limits.',
    services: 'Services',
    programs: { jupyter: 'JupyterLab', tensorboard: 'TensorBoard', desktop: 'Desktop' },
    preparing: 'It is being started. What is not installed yet is installed first: that can take a minute.',
    openNow: 'Open now',
    beside: (n: number) => (n > 1 ? `over ${n} jobs` : 'beside the job'),
    end: 'Stop',
    endOf: (service: string) => `Stop ${service}`,
    port: 'Port',
    openPort: 'Open port',
    servicesHint: 'Started when it does not run yet; opens in a new tab.',
    ssh: 'SSH command',
    terminalOf: (task: string) => `Terminal in ${task}`,
    news: (news: News): string => {
      if (typeof news === 'object')
        return news.exitCode === null
          ? 'the shell is over'
          : `the shell ended with exit code ${news.exitCode}`;
      return {
        lost: 'connection lost; trying again',
        back: 'connected again',
        new: 'the shell is gone, with what it ran; this is a new one',
        replaced: 'somebody else is connected to this shell',
      }[news];
    },
  },
  zh: {
    task: '终端所在的子任务',
    open: '打开终端',
    close: '关闭终端',
    hint: '子任务中的终端，使用其变量、文件和限制。',
    services: '服务',
    programs: { jupyter: 'JupyterLab', tensorboard: 'TensorBoard', desktop: '桌面' },
    preparing: '正在启动。尚未安装的程序会先安装，可能需要一分钟。',
    openNow: '已打开',
    beside: (n: number) => (n > 1 ? `显示 ${n} 个任务` : '在任务之外运行'),
    end: '停止',
    endOf: (service: string) => `停止 ${service}`,
    port: '端口',
    openPort: '打开端口',
    servicesHint: '若未运行则启动；在新标签页中打开。',
    ssh: 'SSH 命令',
    terminalOf: (task: string) => `${task} 中的终端`,
    news: (news: News): string => {
      if (typeof news === 'object')
        return news.exitCode === null ? '终端已结束' : `终端已结束，退出码 ${news.exitCode}`;
      return {
        lost: '连接中断；正在重试',
        back: '已重新连接',
        new: '原终端及其运行的程序已不在；这是新的终端',
        replaced: '有人在别处连接了此终端',
      }[news];
    },
  },
});
