import { DownOutlined, SearchOutlined, UpOutlined } from '@ant-design/icons';
import { Button, Input } from 'antd';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import styles from './log.module.css';
import { Matches, type MatchesView } from './matches';
import { type LogPlace, searchOf } from './source';

const TYPING_MS = 350;

interface Find {
  typed: string;
  /** What is looked for, once typing paused. */
  text: string;
  found: MatchesView;
  type: (text: string) => void;
  step: (by: 1 | -1) => void;
  /** Go to the newest of what was typed, as soon as that is known; then on from one to the next. */
  enter: (by: 1 | -1) => void;
}

/** Look for a text in a whole log, and go from one place to the next. */
export function useFind(place: LogPlace, show: (offset: number) => void): Find {
  const { jobId, task, attempt } = place;
  const [typed, setTyped] = useState('');
  const [text, setText] = useState('');
  const showing = useRef(show);
  showing.current = show;
  const isFirstWanted = useRef(false);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed.trim()), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const matches = useMemo(
    () => new Matches(searchOf({ jobId, task, attempt }, text), (offset) => showing.current(offset)),
    [text, jobId, task, attempt],
  );
  useEffect(() => {
    if (text) matches.start(isFirstWanted.current);
    isFirstWanted.current = false;
    return () => matches.stop();
  }, [matches, text]);
  const found = useSyncExternalStore(matches.subscribe, matches.current);
  const step = (by: 1 | -1) => matches.step(by);
  const enter = (by: 1 | -1) => {
    const wanted = typed.trim();
    if (wanted === text) {
      if (text) matches.step(by);
      return;
    }
    isFirstWanted.current = true;
    setText(wanted);
  };
  return { typed, text, found, type: setTyped, step, enter };
}

export function FindBox({ find }: { find: Find }) {
  const say = useWords(words);
  const { count, at, isAll, isBusy, error } = find.found;
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
        onPressEnter={(event) => find.enter(event.shiftKey ? -1 : 1)}
      />
      {find.text && (
        <output className={styles.found}>
          {error !== undefined
            ? say.findFailed
            : isBusy && count === 0
              ? say.finding
              : say.found(at + 1, count, isAll)}
          <Button
            size="small"
            type="text"
            icon={<UpOutlined aria-hidden />}
            aria-label={say.findUp}
            disabled={count === 0}
            onClick={() => find.step(1)}
          />
          <Button
            size="small"
            type="text"
            icon={<DownOutlined aria-hidden />}
            aria-label={say.findDown}
            disabled={count === 0}
            onClick={() => find.step(-1)}
          />
        </output>
      )}
    </>
  );
}
