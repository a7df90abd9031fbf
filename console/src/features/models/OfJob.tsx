import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { JobDetail } from '@/api/client';
import styles from './models.module.css';
import { modelsQuery } from './queries';

/** The models that have come from a job. */
export function ModelsOfJob({ job }: { job: JobDetail }) {
  const { data } = useQuery(modelsQuery({ job: job.id }));
  if (!data || data.items.length === 0) return <>–</>;
  return (
    <span className={styles.inline}>
      {data.items.map(({ id, name }) => (
        <Link key={id} to="/models/$modelId" params={{ modelId: id }}>
          {name}
        </Link>
      ))}
    </span>
  );
}
