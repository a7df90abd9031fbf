/** What the page of a desktop says, in the language of the browser. */
const TABLE = {
  en: {
    language: 'en',
    connecting: 'Connecting to the desktop…',
    lost: 'The connection was lost; trying again.',
    over: 'The desktop is closed: it was stopped, or its job is over. Open it again from the console.',
  },
  zh: {
    language: 'zh',
    connecting: '正在连接桌面…',
    lost: '连接中断；正在重试。',
    over: '桌面已关闭：它已停止，或任务已结束。请从控制台重新打开。',
  },
} as const;

export type Said = 'connecting' | 'lost' | 'over';

export const words = (language: string) => (language.startsWith('zh') ? TABLE.zh : TABLE.en);
