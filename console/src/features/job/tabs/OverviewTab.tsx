import { useQuery } from '@tanstack/react-query';
import type { JobDetail } from '@/api/client';
import { attemptsQuery, jobEventsQuery } from '@/api/queries';
import styles from '../job.module.css';
import { LastLines } from './LastLines';
import { Tasks } from './Tasks';
import { Timeline } from './Timeline';

export function OverviewTab({ job }: { job: JobDetail }) {
  const { data: events } = useQuery(jobEventsQuery(job.id));
  const { data: attempts } = useQuery(attemptsQuery(job.id));
  return (
    <div className={styles.stack}>
      <LastLines job={job} />
      <Tasks job={job} attempts={attempts ?? []} />
      <Timeline job={job} events={events} attempts={attempts ?? []} />
    </div>
  );
}
