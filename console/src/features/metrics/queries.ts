import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { channel } from '@/api/channel';
import { answer, api } from '@/api/client';
import type { Range } from './CurveChart';
import type { Axis } from './curves';

export interface Wanted {
  axis: Axis;
  tasks?: readonly string[];
  attempts?: readonly number[];
  names?: readonly string[];
  range?: Range;
}

/** What is drawn before anybody has chosen. */
export const UNCHANGED: Wanted = { axis: 'step', range: null, tasks: [], attempts: [] };

/** As many as a screen has columns: lowest and highest of each part are among them. */
const MOST_POINTS = 600;
const metricsKey = (id: string) => ['metrics', id] as const;

export const metricsQuery = (id: string, wanted: Wanted) =>
  queryOptions({
    queryKey: [...metricsKey(id), wanted],
    queryFn: ({ signal }) => {
      const { axis, tasks, attempts, names, range } = wanted;
      const query = {
        axis,
        task: [...(tasks ?? [])],
        attempt: [...(attempts ?? [])],
        name: [...(names ?? [])],
        begin: range?.[0],
        end: range?.[1],
        max_points: MOST_POINTS,
      };
      return answer(
        api.GET('/api/v1/jobs/{job_id}/metrics', { params: { path: { job_id: id }, query }, signal }),
      );
    },
    placeholderData: keepPreviousData,
  });

export const latestQuery = (jobs: readonly string[], names: readonly string[] = []) =>
  queryOptions({
    queryKey: ['metrics', 'latest', jobs, names],
    queryFn: async ({ signal }) => {
      const query = { job: [...jobs], name: [...names] };
      return (await answer(api.GET('/api/v1/metrics/latest', { params: { query }, signal }))).items;
    },
    enabled: jobs.length > 0,
    placeholderData: keepPreviousData,
  });

/** Read curves again whenever these jobs have told new points. */
export function useLiveMetrics(ids: readonly string[]): void {
  const client = useQueryClient();
  const all = ids.join(' ');
  useEffect(() => {
    const leave = all
      .split(' ')
      .filter(Boolean)
      .map((id) =>
        channel.followMetrics(id, () => {
          void client.invalidateQueries({ queryKey: metricsKey(id) });
          void client.invalidateQueries({ queryKey: metricsKey('latest') });
          void client.invalidateQueries({ queryKey: ['job', id], exact: true });
        }),
      );
    return () => {
      for (const one of leave) one();
    };
  }, [client, all]);
}
