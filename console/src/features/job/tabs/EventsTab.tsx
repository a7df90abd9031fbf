import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import type { JobDetail } from '@/api/client';
import { jobEventsQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import { Clock, isToday } from '@/ui/time';
import { useTold } from '@/ui/told';
import styles from '../job.module.css';
import { words } from '../words';
import { tidy } from './tidy';

const SHOWN_AT_ONCE = 200;

/** Everything that happened to the job, the newest first; each sentence once. */
export function EventsTab({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const told = useTold();
  const [nShown, setShown] = useState(SHOWN_AT_ONCE);
  const { data: events, error } = useQuery(jobEventsQuery(job.id));
  if (error && !events) return <Failure error={error} />;
  if (!events) return <Skeleton active title={false} paragraph={{ rows: 8 }} />;
  const isDated = events.some(({ at }) => !isToday(at));
  return (
    <Card isFlush>
      {events.length === 0 && <Nothing title={say.noEvents} />}
      <ol className={styles.events} data-dated={isDated}>
        {tidy(events)
          .toReversed()
          .slice(0, nShown)
          .map(({ event, isTold }) => (
            <li key={event.seq}>
              <Clock at={event.at} isDated={isDated} />
              <span className={styles.kind}>{say.kinds[event.kind] ?? event.kind}</span>
              <span>
                {!isTold && <span title={event.message}>{told(event)}</span>}
                {event.actor && !event.message.includes(event.actor) && (
                  <span className="quiet"> · {event.actor}</span>
                )}
              </span>
            </li>
          ))}
      </ol>
      {events.length > nShown && (
        <Button type="link" onClick={() => setShown(nShown + SHOWN_AT_ONCE)}>
          {say.showMore(Math.min(SHOWN_AT_ONCE, events.length - nShown))}
        </Button>
      )}
    </Card>
  );
}
