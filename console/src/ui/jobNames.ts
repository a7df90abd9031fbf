import { useQuery } from '@tanstack/react-query';
import type { JobState } from '@/api/client';
import { jobsQuery } from '@/api/queries';

const HOLDING: JobState[] = ['STARTING', 'RUNNING', 'STOPPING'];
const MOST = 200;

/** A way to call the jobs that hold something by their names; by its id, one that the reader may not see. */
export function useJobNames(): (id: string) => string {
  const { data } = useQuery(jobsQuery({ state: HOLDING, limit: MOST }));
  return (id) => data?.items.find((job) => job.id === id)?.name ?? id;
}
