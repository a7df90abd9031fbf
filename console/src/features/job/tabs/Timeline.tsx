import { Link } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import type { Attempt, JobDetail, JobEvent, JobState } from '@/api/client';
import { useLanguage, useWords } from '@/i18n/language';
import type { Language } from '@/i18n/translated';
import { isKept, JOB_STATES, StateTag } from '@/ui/jobState';
import { Card } from '@/ui/Page';
import { Clock, isToday, span, useNow } from '@/ui/time';
import { useTold } from '@/ui/told';
import styles from '../job.module.css';
import { words } from '../words';
import { phasesOf } from './phases';
import { milestones } from './tidy';

interface TimelineProps {
  job: JobDetail;
  events: readonly JobEvent[] | undefined;
  attempts: readonly Attempt[];
}

/** Each attempt, the newest first: how long it waited, was prepared and ran, and the moves on the way. */
export function Timeline({ job, events, attempts }: TimelineProps) {
  const say = useWords(words);
  const numbers = [...new Set([job.attempt, ...attempts.map(({ number }) => number)])].sort((a, b) => b - a);
  return (
    <Card
      title={say.timeline}
      isFlush
      extra={
        events && (
          <Link to="/jobs/$jobId" params={{ jobId: job.id }} search={{ tab: 'events' }}>
            {say.allEvents(events.length)}
          </Link>
        )
      }
    >
      {!events && <Skeleton active className={styles.padded} title={false} />}
      {events &&
        numbers.map((number) => (
          <AttemptBlock
            key={number}
            number={number}
            isKept={number === job.attempt && isKept(job)}
            state={number === job.attempt ? job.state : attempts.find((one) => one.number === number)?.state}
            events={events.filter((event) => event.attempt === number)}
            before={events.findLast((event) => event.attempt === number - 1)}
          />
        ))}
    </Card>
  );
}

interface AttemptBlockProps {
  number: number;
  state: JobState | undefined;
  isKept: boolean;
  events: readonly JobEvent[];
  before: JobEvent | undefined;
}

function AttemptBlock({ number, state, isKept, events, before }: AttemptBlockProps) {
  const say = useWords(words);
  const told = useTold();
  const { language } = useLanguage();
  const steps = milestones(events);
  const isDated = steps.some(({ event: { at } }) => !isToday(at));
  return (
    <div className={styles.attempt}>
      <div className={styles.attemptHead}>
        <h3>{say.attempt(number + 1)}</h3>
        {state && <StateTag state={state} isKept={isKept} />}
      </div>
      <Phases
        events={events}
        begin={before?.at ?? events[0]?.at}
        isOver={state !== undefined && JOB_STATES[state].isFinal}
      />
      <ol className={styles.steps} data-dated={isDated}>
        {steps.map(({ event, isTold }, index) => (
          <li key={event.seq} data-kind={event.kind}>
            <Clock at={event.at} isDated={isDated} />
            <span title={event.message}>{isTold ? say.kinds[event.kind] : told(event)}</span>
            <span className={styles.since}>
              {index > 0 && sinceText(steps[index - 1]?.event, event, language)}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function sinceText(before: JobEvent | undefined, event: JobEvent, language: Language): string {
  const seconds = before ? (Date.parse(event.at) - Date.parse(before.at)) / 1000 : 0;
  return seconds >= 0.005 ? `+${span(seconds, language)}` : '';
}

/** Shares of a bar that add up to less than one would leave a part of it empty. */
const WHOLE = 1000;

interface PhasesProps {
  events: readonly JobEvent[];
  begin: string | undefined;
  isOver: boolean;
}

/** Waiting, preparing, running and being kept as parts of one bar, each as long as it took. */
function Phases({ events, begin, isOver }: PhasesProps) {
  const say = useWords(words);
  const { language } = useLanguage();
  const now = useNow();
  const phases = phasesOf(events, begin, isOver, now);
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
            {say.phases[name]} <span className="number">{span(seconds, language)}</span>
          </span>
        ))}
      </div>
    </div>
  );
}
