import { VerticalAlignTopOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { channel } from '@/api/channel';
import type { JobDetail, JobEvent } from '@/api/client';
import { jobEventsQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { isFinal } from '@/ui/jobState';
import { clock, exactly, isToday } from '@/ui/time';
import { type Said, useTold } from '@/ui/told';
import { words } from '../words';
import { FindBox, useFind } from './FindBox';
import { cutText, LineText } from './LineText';
import styles from './log.module.css';
import { type LogPlace, serverLog } from './source';
import { stampOf, useTimes } from './stamps';
import { stepsAround } from './steps';
import { type Scroller, VirtualLines } from './VirtualLines';
import { LogWindow, type View } from './window';

interface TaskLogProps {
  job: JobDetail;
  place: LogPlace;
  isWrapped: boolean;
  isStamped: boolean;
  tools: (find: React.ReactNode, follow: () => void, isFollowing: boolean) => React.ReactNode;
}

/** One task's log, from the steps before its first line to its exit. */
export function TaskLog({ job, place, isWrapped, isStamped, tools }: TaskLogProps) {
  const say = useWords(words);
  const told = useTold();
  const { window, view, error } = useLogWindow(job, place);
  const [isFollowing, setFollowing] = useState(true);
  const scroller = useRef<Scroller>(null);
  const find = useFind(place, (offset) => {
    setFollowing(false);
    void window.openAt(offset);
  });
  const [above, below] = useSteps(job.id, place, view.lines.begin === 0, view.isAtEnd);
  const { opening, target, isReady } = view;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each opening, not for each line above
  useEffect(() => {
    if (!isReady) return;
    if (target === undefined) scroller.current?.toEnd();
    else scroller.current?.toLine(above.length + target);
  }, [opening, target, isReady]);
  const isBehind = isFollowing && isReady && !view.isAtEnd;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each part that came may not have been the last
  useEffect(() => {
    if (isBehind) void window.extendDown();
  }, [isBehind, view, window]);
  const follow = () => {
    setFollowing(true);
    if (!view.isAtEnd) void window.openAtEnd();
    scroller.current?.toEnd();
  };
  const { lines } = view;
  const nLines = lines.count;
  const stepAt = useCallback(
    (index: number) => (index < above.length ? above[index] : below[index - above.length - lines.count]),
    [above, below, lines],
  );
  const { stamp, blank, setRange } = useStampsOf(job, place, view, above.length, isStamped);
  const text = useCallback(
    (index: number) => {
      const step = stepAt(index);
      return step ? stepText(step, told) : `${blank}${cutText(lines.text(index - above.length), say)}`;
    },
    [stepAt, above, lines, say, told, blank],
  );
  const { offset } = find.found;
  const isHeld = offset !== undefined && offset >= lines.begin && offset < lines.end;
  const current = isHeld ? lines.indexOf(offset) : undefined;
  const line = (index: number) => {
    const step = stepAt(index);
    if (step) return <StepLine event={step} />;
    const own = index - above.length;
    return (
      <>
        {isStamped && <Stamp text={stamp(own)} />}
        <LineText text={lines.text(own)} wanted={find.text} isCurrent={own === current} />
      </>
    );
  };
  return (
    <>
      {tools(<FindBox find={find} />, follow, isFollowing && view.isAtEnd)}
      {error !== undefined && <Failure error={error} />}
      {!isReady && error === undefined && (
        <Skeleton active className={styles.empty} title={false} paragraph={{ rows: 8 }} />
      )}
      {isReady && nLines + above.length + below.length === 0 && (
        <div className={styles.empty}>{say.noOutput}</div>
      )}
      {isReady && nLines + above.length + below.length > 0 && (
        <VirtualLines
          ref={scroller}
          count={above.length + nLines + below.length}
          line={line}
          text={text}
          isWrapped={isWrapped}
          label={say.logOf(place.task)}
          shift={view.shift}
          isFollowing={isFollowing && view.isAtEnd}
          // The bottom of what is held is the end of the log only where nothing more is known of.
          onFollow={(wanted) => setFollowing((was) => wanted && (was || view.isAtEnd))}
          onNearTop={() => void window.extendUp()}
          onNearBottom={() => void window.extendDown()}
          onRange={setRange}
        />
      )}
      <div className={styles.status}>
        <span className="number">{bytes(view.size)}</span>
        {view.size > 0 && (view.lines.begin > 0 || !view.isAtEnd) && (
          <>
            <Button
              size="small"
              type="text"
              icon={<VerticalAlignTopOutlined aria-hidden />}
              onClick={() => {
                setFollowing(false);
                void window.openAt(0);
              }}
            >
              {say.toTop}
            </Button>
            <input
              type="range"
              className={styles.position}
              aria-label={say.position}
              min={0}
              max={100}
              step={0.1}
              value={(100 * view.lines.begin) / Math.max(1, view.size - (view.lines.end - view.lines.begin))}
              onChange={(event) => {
                setFollowing(false);
                void window.openAt(
                  Math.floor((Number(event.target.value) / 100) * Math.max(0, view.size - 1)),
                );
              }}
            />
          </>
        )}
      </div>
    </>
  );
}

/** When a line was printed, apart from what it says: whoever copies lines wants those alone. */
export const Stamp = ({ text }: { text: string }) => <span className={styles.stamp}>{text}</span>;

/** What stands before each line: its time, or as many blanks. */
function useStampsOf(job: JobDetail, place: LogPlace, view: View, nAbove: number, isStamped: boolean) {
  const [[from, to], setDrawn] = useState<[number, number]>([0, 0]);
  const { lines } = view;
  const last = Math.min(lines.count, to - nAbove) - 1;
  const drawn = [lines.offset(Math.max(0, from - nAbove)), lines.offset(Math.max(0, last))] as const;
  const isLive = !isFinal(job.state) && place.attempt === job.attempt;
  const timeAt = useTimes(place, isStamped && last >= 0 ? drawn : undefined, isLive);
  const isDated = !isToday(job.submitted_at);
  return {
    stamp: (own: number) => stampOf(timeAt(lines.offset(own)), isDated),
    blank: isStamped ? stampOf(undefined, isDated) : '',
    setRange: useCallback((first: number, end: number) => setDrawn([first, end]), []),
  };
}

export const stepText = (event: JobEvent, told: (said: Said) => string) =>
  `${clock(event.at)} ${told(event)}`;

export function StepLine({ event }: { event: JobEvent }) {
  const told = useTold();
  return (
    <span className={styles.system} title={exactly(event.at)}>
      {stepText(event, told)}
    </span>
  );
}

/** What happened before the first line of output, and after the last. */
function useSteps(
  jobId: string,
  place: LogPlace,
  isBegin: boolean,
  isEnd: boolean,
): [JobEvent[], JobEvent[]] {
  const { data: events } = useQuery(jobEventsQuery(jobId));
  const { task, attempt } = place;
  return useMemo(() => {
    const [before, after] = stepsAround(events ?? [], { jobId, task, attempt });
    return [isBegin ? before : [], isEnd ? after : []];
  }, [events, jobId, task, attempt, isBegin, isEnd]);
}

function useLogWindow(job: JobDetail, place: LogPlace) {
  const { jobId, task, attempt } = place;
  const [error, setError] = useState<unknown>();
  const window = useMemo(() => new LogWindow(serverLog({ jobId, task, attempt })), [jobId, task, attempt]);
  const view = useSyncExternalStore(window.subscribe, window.current);
  const isLive = !isFinal(job.state) && attempt === job.attempt;
  useEffect(() => {
    let isOver = false;
    let leave: () => void = () => undefined;
    const follow = () => {
      // A job that has just ended is left where somebody reads; all of its output has come.
      if (isOver || !isLive) return;
      const wish = { job: jobId, tasks: [task], attempt, offset: window.current().lines.end, cursor: '' };
      leave = channel.followLog(wish, {
        onMessage: ({ kind, data }) => {
          const sent = data as { text: string; offset: number };
          if (kind === 'log') window.append(sent.text, sent.offset);
        },
        onRefused: setError,
      });
    };
    setError(undefined);
    window.ready().then(follow, (reason: unknown) => !isOver && setError(reason));
    return () => {
      isOver = true;
      leave();
    };
  }, [window, isLive, jobId, task, attempt]);
  return { window, view, error };
}
