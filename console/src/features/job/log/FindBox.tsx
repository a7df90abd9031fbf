import { DownOutlined, SearchOutlined, UpOutlined } from '@ant-design/icons';
import { Button, Input } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import styles from './log.module.css';
import { findInLog, type LogPlace } from './source';

const TYPING_MS = 350;

interface Find {
  typed: string;
  /** What is looked for, once typing paused. */
  text: string;
  offsets: number[];
  at: number;
  isDone: boolean;
  type: (text: string) => void;
  step: (by: number) => void;
}

/** Look for a text in a whole log, and go from one place to the next. */
export function useFind(place: LogPlace, show: (offset: number) => void): Find {
  const { jobId, task, attempt } = place;
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  const [offsets, setOffsets] = useState<number[]>([]);
  const [at, setAt] = useState(-1);
  const [isDone, setDone] = useState(true);
  const showing = useRef(show);
  showing.current = show;
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useEffect(() => {
    setOffsets([]);
    setAt(-1);
    setDone(text === '');
    if (!text) return;
    const stop = new AbortController();
    findInLog({ jobId, task, attempt }, text, stop.signal, (found, isAll) => {
      if (stop.signal.aborted) return;
      setOffsets(found);
      setDone(isAll);
    }).catch(() => setDone(true));
    return () => stop.abort();
  }, [text, jobId, task, attempt]);
  const step = (by: number) => {
    if (offsets.length === 0) return;
    // From nowhere, the newest comes first: that is what people look for.
    const next = at < 0 ? offsets.length - 1 : (at + by + offsets.length) % offsets.length;
    setAt(next);
    showing.current(offsets[next] ?? 0);
  };
  return { typed, text, offsets, at, isDone, type: setTyped, step };
}

export function FindBox({ find }: { find: Find }) {
  const say = useWords(words);
  const n = find.offsets.length;
  return (
    <>
      <Input
        allowClear
        size="small"
        className={styles.find}
        prefix={<SearchOutlined aria-hidden />}
        placeholder={say.find}
        aria-label={say.find}
        value={find.typed}
        maxLength={255}
        onChange={(event) => find.type(event.target.value)}
        onPressEnter={(event) => find.step(event.shiftKey ? 1 : -1)}
      />
      {find.text && (
        <output className={styles.found}>
          {find.isDone || n > 0 ? say.found(find.at + 1, n, find.isDone) : say.finding}
          <Button
            size="small"
            type="text"
            icon={<UpOutlined aria-hidden />}
            aria-label={say.findUp}
            disabled={n === 0}
            onClick={() => find.step(-1)}
          />
          <Button
            size="small"
            type="text"
            icon={<DownOutlined aria-hidden />}
            aria-label={say.findDown}
            disabled={n === 0}
            onClick={() => find.step(1)}
          />
        </output>
      )}
    </>
  );
}
