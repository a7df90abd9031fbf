import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { jobsQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { StateTag } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { Crumbs } from '../Crumbs';
import styles from '../files.module.css';
import { Listing } from '../Listing';
import { words } from '../words';

const N_JOBS = 100;

/** One's own jobs, each as a folder. */
export function JobFolders() {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data, error } = useQuery({
    ...jobsQuery({ owner: [me?.name ?? ''], limit: N_JOBS }),
    enabled: Boolean(me),
  });
  const entries = data?.items.map((job) => ({
    ...job,
    path: job.id,
    kind: 'folder',
    size_bytes: 0,
    modified_at: job.finished_at ?? job.submitted_at,
  }));
  return (
    <Card isFlush>
      <div className={styles.head}>
        <Crumbs first={[{ name: say.jobFiles, search: { jobs: true } }]} path="" />
      </div>
      <p className={styles.hint}>{say.yourJobs}</p>
      {error && !data && (
        <div className={styles.failure}>
          <Failure error={error} />
        </div>
      )}
      {!data && !error && <Skeleton active className={styles.skeleton} title={false} />}
      {entries?.length === 0 && <Nothing title={say.noJobs} hint={say.noJobsHint} />}
      {entries && entries.length > 0 && (
        <Listing
          entries={entries}
          searchOf={({ id }) => ({ job: id })}
          menuOf={({ state }) => <StateTag state={state} />}
        />
      )}
    </Card>
  );
}
