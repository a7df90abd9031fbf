import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '@/api/client';
import { keys } from '@/api/queries';

const REFRESH_MS = 5000;
const MOST = 50;

/** One's own notebooks, newest first; those of long ago are in the list of jobs. */
export const notebooksQuery = (owner: string) =>
  queryOptions({
    queryKey: [...keys.jobs, 'notebooks', owner],
    queryFn: async ({ signal }) => {
      const query = { tag: 'notebook', owner: [owner], limit: MOST };
      return (await answer(api.GET('/api/v1/jobs', { params: { query }, signal }))).items;
    },
    refetchInterval: REFRESH_MS,
  });

export const samplesQuery = queryOptions({
  queryKey: [...keys.platform, 'notebook samples'],
  queryFn: async () => (await answer(api.GET('/api/v1/notebooks/samples'))).items,
  staleTime: Number.POSITIVE_INFINITY,
});
