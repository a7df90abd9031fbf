import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobDetail } from '@/api/client';
import { lastLinesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isKept } from '@/ui/jobState';
import { Card } from '@/ui/Page';
import styles from '../job.module.css';
import { LineText } from '../log/LineText';
import logStyles from '../log/log.module.css';
import { words } from '../words';
import { firstFailed } from './failed';

const N_LINES = 15;

/** The last words of the task that failed first: mostly they say why. */
export function LastLines({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const hasFailed = job.state === 'FAILED' || isKept(job);
  const task = hasFailed ? firstFailed(job.tasks) : undefined;
  const place = { jobId: job.id, task: task?.name ?? '', attempt: job.attempt };
  const { data } = useQuery({ ...lastLinesQuery(place, N_LINES), enabled: task !== undefined });
  if (!task || !data || data.length === 0) return null;
  return (
    <Card
      isFlush
      title={say.lastLines(task.name)}
      extra={
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job.id }}
          search={{ tab: 'logs', task: task.name, attempt: String(job.attempt) }}
        >
          {say.openLog}
        </Link>
      }
    >
      <pre className={`${logStyles.colors} ${styles.output}`} tabIndex={0}>
        {data.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
          <div key={index} className={styles.lastLine}>
            <LineText text={line} wanted="" />
          </div>
        ))}
      </pre>
    </Card>
  );
}
