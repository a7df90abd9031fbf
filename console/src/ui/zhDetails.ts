const TELLERS: [RegExp, string][] = [
  [/^out of memory: its limit is (\S+), its peak was (\S+)$/, '内存不足：上限 $1，峰值 $2'],
  [
    /^out of memory: the machine had none left, while the task used (\S+) of its (\S+)$/,
    '内存不足：机器已无内存，当时子任务使用了上限 $2 中的 $1',
  ],
  [/^out of memory$/, '内存不足'],
  [/^the machine was restarted while the task ran$/, '运行期间机器重启'],
  [
    /^the task's process was killed from outside before it could record an exit code$/,
    '进程被外部终止，未能留下退出码',
  ],
  [/^stopped$/, '被停止'],
  [/^stopped before it had started$/, '在启动前被停止'],
  [/^started again not before (\S+)$/, '不早于 $1 重启'],
];

/** How a task ended, in Chinese; undefined where only the server's own words say it. */
export function zhDetail(detail: unknown): string | undefined {
  const text = String(detail ?? '');
  const [, survived] = /^it went on after a process of it was killed: (.+)$/.exec(text) ?? [];
  if (survived) return `有一个进程被终止，之后继续运行：${zhDetail(survived) ?? survived}`;
  for (const [pattern, says] of TELLERS) if (pattern.test(text)) return text.replace(pattern, says);
  return undefined;
}
