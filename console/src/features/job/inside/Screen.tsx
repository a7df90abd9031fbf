import '@xterm/xterm/css/xterm.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef } from 'react';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { MONOSPACE } from '@/theme/palette';
import styles from './inside.module.css';
import { type News, openLine } from './line';
import { words } from './words';

const QUIET = '\x1b[90m';
const PLAIN = '\x1b[0m';

interface ScreenProps {
  shell: Schemas['ShellBody'];
  onEnd: () => void;
}

/** A terminal in the page; it ends with the page, or with its shell. */
export default function Screen({ shell, onEnd }: ScreenProps) {
  const say = useWords(words);
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef({ say, onEnd });
  latest.current = { say, onEnd };
  useEffect(() => {
    if (!place.current) return;
    const terminal = new Terminal({
      fontFamily: MONOSPACE,
      fontSize: 13,
      cursorBlink: true,
      scrollback: 5000,
      theme: { background: '#0e1217', foreground: '#e6eaf0' },
    });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(place.current);
    fit.fit();
    const tell = (news: News) => {
      const { say, onEnd } = latest.current;
      terminal.write(`\r\n${QUIET}[${say.news(news)}]${PLAIN}\r\n`);
      if (news === 'replaced' || typeof news === 'object') onEnd();
    };
    const size = () => ({ rows: terminal.rows, columns: terminal.cols });
    const line = openLine(shell, size, (data) => terminal.write(data), tell);
    terminal.onData(line.write);
    terminal.onResize(({ rows, cols }) => line.resize(rows, cols));
    terminal.attachCustomKeyEventHandler((event) => {
      const isCopy = event.type === 'keydown' && event.ctrlKey && event.key.toLowerCase() === 'c';
      if (!isCopy || !terminal.hasSelection()) return true;
      event.preventDefault();
      void navigator.clipboard?.writeText(terminal.getSelection());
      terminal.clearSelection();
      return false;
    });
    const watcher = new ResizeObserver(() => fit.fit());
    watcher.observe(place.current);
    terminal.focus();
    return () => {
      watcher.disconnect();
      line.leave();
      terminal.dispose();
    };
  }, [shell]);
  return <section ref={place} className={styles.screen} aria-label={say.terminalOf(shell.task)} />;
}
