import { Input } from 'antd';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { channel } from '@/api/channel';
import type { JobDetail, JobEvent } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { isToday } from '@/ui/time';
import { useTold } from '@/ui/told';
import { words } from '../words';
import { stripAnsi } from './ansi';
import { cutText, LineText } from './LineText';
import styles from './log.module.css';
import { MergedLog, type Output } from './merged';
import { stampOf } from './stamps';
import { Stamp, StepLine, stepText } from './TaskLog';
import { type Scroller, VirtualLines } from './VirtualLines';

const MOST_OF_A_TAIL = 500;
const MOST_OF_ALL_TAILS = 20_000;
const COLORS = [4, 2, 5, 6, 3, 1];

interface AllLogsProps {
  job: JobDetail;
  attempt: number;
  isWrapped: boolean;
  isStamped: boolean;
  tools: (find: React.ReactNode, follow: () => void, isFollowing: boolean) => React.ReactNode;
}

/** All tasks in one: the end of each log, then what they print as it comes. */
export function AllLogs({ job, attempt, isWrapped, isStamped, tools }: AllLogsProps) {
  const say = useWords(words);
  const told = useTold();
  const nTail = Math.max(20, Math.min(MOST_OF_A_TAIL, Math.floor(MOST_OF_ALL_TAILS / job.tasks.length)));
  const { log, error } = useMergedLog(job.id, attempt, nTail);
  const { lines, shift } = useSyncExternalStore(log.subscribe, log.current);
  const [wanted, setWanted] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  const scroller = useRef<Scroller>(null);
  const shown = useMemo(() => {
    const text = wanted.trim().toLowerCase();
    return text ? lines.filter((line) => stripAnsi(line.text).toLowerCase().includes(text)) : lines;
  }, [lines, wanted]);
  const width = Math.max(...job.tasks.map((task) => task.name.length));
  const colors = new Map(
    job.tasks.map((task, index) => [task.name, `var(--ansi-${COLORS[index % COLORS.length]})`]),
  );
  const follow = () => {
    setFollowing(true);
    scroller.current?.toEnd();
  };
  const filter = (
    <Input
      allowClear
      size="small"
      className={styles.find}
      placeholder={say.filter}
      aria-label={say.filter}
      value={wanted}
      onChange={(event) => setWanted(event.target.value)}
    />
  );
  const isDated = !isToday(job.submitted_at);
  const blank = isStamped ? stampOf(undefined, isDated) : '';
  const text = useCallback(
    (index: number) => {
      const { text = '', event } = shown[index] ?? {};
      return event ? stepText(event, told) : `${blank}${' '.repeat(width + 2)}${cutText(text, say)}`;
    },
    [shown, width, say, told, blank],
  );
  const line = (index: number) => {
    const { task, text, event, at } = shown[index] ?? { task: '', text: '' };
    if (event) return <StepLine event={event} />;
    return (
      <>
        {isStamped && <Stamp text={stampOf(at, isDated)} />}
        <span className={styles.taskName} style={{ color: colors.get(task) }}>
          {`${task.padEnd(width)}  `}
        </span>
        <LineText text={text} wanted={wanted.trim()} />
      </>
    );
  };
  return (
    <>
      {tools(filter, follow, isFollowing)}
      {error !== undefined && <Failure error={error} />}
      {shown.length === 0 ? (
        <div className={styles.empty}>{wanted.trim() && lines.length > 0 ? say.noneShown : say.noOutput}</div>
      ) : (
        <VirtualLines
          ref={scroller}
          count={shown.length}
          line={line}
          text={text}
          isWrapped={isWrapped}
          label={say.allTasks}
          shift={wanted ? 0 : shift}
          isFollowing={isFollowing}
          onFollow={setFollowing}
        />
      )}
      <div className={styles.status}>{wanted.trim() ? say.filterHint(nTail) : say.allHint(nTail)}</div>
    </>
  );
}

function useMergedLog(jobId: string, attempt: number, nTail: number) {
  const [error, setError] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another job or attempt is another log
  const log = useMemo(() => new MergedLog(), [jobId, attempt]);
  useEffect(() => {
    const wish = { job: jobId, tasks: [], attempt, tail: nTail, cursor: '' };
    return channel.followLog(wish, {
      onMessage: ({ kind, data }) => {
        if (kind === 'log') {
          log.output(data as Output);
        } else if (kind === 'step' && (data as JobEvent).attempt === attempt) {
          log.step(data as JobEvent);
        } else if (kind === 'state' || kind === 'end') {
          log.settle();
        }
      },
      onRefused: setError,
    });
  }, [log, jobId, attempt, nTail]);
  return { log, error };
}
