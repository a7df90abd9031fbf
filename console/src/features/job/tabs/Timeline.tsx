import { Skeleton } from 'antd';
import type { Attempt, JobDetail, JobEvent, JobState } from '@/api/client';
import { useWords } from '@/i18n/language';
import { JOB_STATES, StateTag } from '@/ui/jobState';
import { Card } from '@/ui/Page';
import { clock, span, useNow } from '@/ui/time';
import styles from '../job.module.css';
import { words } from '../words';

interface TimelineProps {
  job: JobDetail;
  events: readonly JobEvent[] | undefined;
  attempts: readonly Attempt[];
}

/** Each attempt, the newest first: how long it waited, was prepared and ran, and the steps on the way. */
export function Timeline({ job, events, attempts }: TimelineProps) {
  const say = useWords(words);
  const numbers = [...new Set([job.attempt, ...attempts.map(({ number }) => number)])].sort((a, b) => b - a);
  return (
    <Card title={say.timeline} isFlush>
      {!events && <Skeleton active className={styles.padded} title={false} />}
      {events &&
        numbers.map((number) => (
          <AttemptBlock
            key={number}
            number={number}
            isLarge={job.n_tasks > FEW_TASKS}
            state={number === job.attempt ? job.state : attempts.find((one) => one.number === number)?.state}
            events={events.filter((event) => event.attempt === number)}
            before={events.findLast((event) => event.attempt === number - 1)}
          />
        ))}
    </Card>
  );
}

const FEW_TASKS = 20;

/** Whether the timeline tells an event; of many tasks only those that went wrong. */
function isTold(event: JobEvent, isLarge: boolean): boolean {
  if (event.kind === 'edited') return false;
  const isFine =
    event.kind === 'task_started' || (event.kind === 'task_exited' && event.data.exit_code === 0);
  return !(isLarge && isFine);
}

interface AttemptBlockProps {
  number: number;
  state: JobState | undefined;
  events: readonly JobEvent[];
  before: JobEvent | undefined;
  isLarge: boolean;
}

function AttemptBlock({ number, state, events, before, isLarge }: AttemptBlockProps) {
  const say = useWords(words);
  const steps = events.filter((event) => isTold(event, isLarge));
  return (
    <div className={styles.attempt}>
      <div className={styles.attemptHead}>
        <h3>{say.attempt(number + 1)}</h3>
        {state && <StateTag state={state} />}
      </div>
      <Phases
        events={events}
        begin={before?.at ?? events[0]?.at}
        isOver={state !== undefined && JOB_STATES[state].isFinal}
      />
      <ol className={styles.steps}>
        {steps.map((event, index) => (
          <li key={event.seq} data-kind={event.kind}>
            <time dateTime={event.at}>{clock(event.at)}</time>
            <span title={event.message}>{say.event(event)}</span>
            <span className={styles.since}>{index > 0 && sinceText(steps[index - 1], event)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function sinceText(before: JobEvent | undefined, event: JobEvent): string {
  const seconds = before ? (Date.parse(event.at) - Date.parse(before.at)) / 1000 : 0;
  return seconds >= 0.05 ? `+${span(seconds)}` : '';
}

/** Shares of a bar that add up to less than one would leave a part of it empty. */
const WHOLE = 1000;

/** Waiting, preparing and running as parts of one bar, each as long as it took. */
function Phases({
  events,
  begin,
  isOver,
}: {
  events: readonly JobEvent[];
  begin: string | undefined;
  isOver: boolean;
}) {
  const say = useWords(words);
  const now = useNow();
  const at = (kind: string) => {
    const found = events.find((event) => event.kind === kind);
    return found && Date.parse(found.at);
  };
  const ends = events.filter((event) => ['succeeded', 'failed', 'stopped', 'requeued'].includes(event.kind));
  const lastEnd = ends.at(-1);
  const end = lastEnd ? Date.parse(lastEnd.at) : isOver ? Date.parse(events.at(-1)?.at ?? '') : now;
  const marks: [keyof typeof say.phases, number | undefined][] = [
    ['waiting', begin === undefined ? undefined : Date.parse(begin)],
    ['preparing', at('starting')],
    ['running', at('running')],
  ];
  const known = marks.filter((mark): mark is [keyof typeof say.phases, number] => mark[1] !== undefined);
  const phases = known.map(([name, from], index) => {
    const to = Math.max(from, known[index + 1]?.[1] ?? end);
    return { name, seconds: (to - from) / 1000 };
  });
  return (
    <div className={styles.phases}>
      <div className={styles.phaseBars}>
        {phases.map(({ name, seconds }) => (
          <div key={name} data-phase={name} style={{ flexGrow: seconds * WHOLE }} />
        ))}
      </div>
      <div className={styles.phaseNames}>
        {phases.map(({ name, seconds }) => (
          <span key={name} data-phase={name}>
            {say.phases[name]} <span className="number">{span(seconds)}</span>
          </span>
        ))}
      </div>
    </div>
  );
}
