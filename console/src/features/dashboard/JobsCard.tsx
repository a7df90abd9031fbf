import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Skeleton, Tooltip } from 'antd';
import type { ReactNode } from 'react';
import type { Job, Schemas } from '@/api/client';
import type { JobsSearch } from '@/features/jobs/search';
import { useWords } from '@/i18n/language';
import { aheadOf } from '@/ui/ahead';
import { useAmount } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { hasEnded, isFinal, isKept, StateTag } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { RunTime, TimeAgo, TimeSince } from '@/ui/time';
import { useTold } from '@/ui/told';
import { words as uiWords } from '@/ui/words';
import styles from './dashboard.module.css';
import { words } from './words';

interface JobsCardProps {
  title: string;
  query: UseQueryResult<Schemas['Jobs']>;
  search: JobsSearch;
  nothing: string;
  hint?: string;
  /** What to do where nothing is. */
  action?: ReactNode;
  /** The reader's own jobs, in a row for themselves: lines stand in two columns. */
  areMine?: boolean;
}

/** Some jobs, a line each, and the way to all of them. */
export function JobsCard({ title, query, search, nothing, hint, action, areMine }: JobsCardProps) {
  const say = useWords(words);
  const { data, error, dataUpdatedAt } = query;
  return (
    <Card
      isFlush
      title={title}
      extra={
        <Link to="/jobs" search={search} aria-label={`${say.all}: ${title}`}>
          {say.all}
        </Link>
      }
    >
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active className={styles.skeleton} title={false} />}
      {data?.items.length === 0 && <Nothing title={nothing} hint={hint} action={action} />}
      {data && data.items.length > 0 && (
        <ul className={styles.jobs} data-wide={areMine}>
          {data.items.map((job) => (
            <JobLine key={job.id} job={job} asOf={dataUpdatedAt} isMine={areMine} />
          ))}
        </ul>
      )}
    </Card>
  );
}

interface JobLineProps {
  job: Job;
  asOf: number;
  isMine?: boolean;
}

function JobLine({ job, asOf, isMine }: JobLineProps) {
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  const told = useTold();
  const amount = useAmount();
  const isWaiting = job.state === 'QUEUED';
  const nAhead = aheadOf(job);
  // Of a job that has failed, why says more than what it took.
  const what = job.state === 'FAILED' ? reasons[job.reason.code] : amount(job.resources);
  return (
    <li className={styles.job}>
      <StateTag state={job.state} isKept={isKept(job)} />
      <div className={styles.jobText}>
        <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={styles.jobName}>
          {job.name}
        </Link>
        <div className={styles.jobDetail}>
          {isWaiting ? (
            <Tooltip title={told(job.reason)}>
              <span>
                {reasons[job.reason.code]}
                {nAhead !== null && ` · ${say.ahead(nAhead)}`}
              </span>
            </Tooltip>
          ) : (
            [...(isMine ? [] : [job.owner]), job.queue, what].join(' · ')
          )}
        </div>
      </div>
      <div className={styles.jobTime}>
        <Times job={job} asOf={asOf} />
      </div>
    </li>
  );
}

/** How long it waits or runs, or when it ended. */
function Times({ job, asOf }: { job: Job; asOf: number }) {
  const say = useWords(words);
  if (job.state === 'QUEUED')
    return (
      <>
        {say.waitsFor} <TimeSince at={job.queued_at} />
      </>
    );
  if (isFinal(job.state))
    return (
      <>
        {say.ended} <TimeAgo at={job.finished_at} />
      </>
    );
  return (
    <>
      {hasEnded(job) ? say.ranFor : say.runsFor}{' '}
      <RunTime seconds={job.run_time_s} asOf={asOf} isOver={hasEnded(job)} />
    </>
  );
}
