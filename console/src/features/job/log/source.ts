import { queryOptions } from '@tanstack/react-query';
import { answer, api, call } from '@/api/client';
import { keys } from '@/api/queries';
import type { ReadPart } from './matches';
import type { Times } from './stamps';
import type { Source } from './window';

export interface LogPlace {
  jobId: string;
  task: string;
  attempt: number;
}

export function logPath({ jobId, task, attempt }: LogPlace, action = ''): string {
  const query = new URLSearchParams({ task, attempt: String(attempt) });
  return `/api/v1/jobs/${jobId}/logs${action}?${query}`;
}

const header = (response: Response, name: string) => Number(response.headers.get(name) ?? 0);

/** One task's log on the server, byte for byte. */
export function serverLog(place: LogPlace): Source {
  return {
    async read(offset, limit, signal) {
      const path = `${logPath(place)}&raw=true&offset=${offset}&limit=${limit}`;
      const response = await call(path, { signal });
      return {
        bytes: new Uint8Array(await response.arrayBuffer()),
        offset,
        nextOffset: header(response, 'X-Log-Next-Offset'),
        size: header(response, 'X-Log-Size'),
      };
    },
  };
}

const TIMES_REFRESH_MS = 2000;

/** When a part of a log was printed; of one that grows, asked again and again. */
export const timesQuery = (
  { jobId, task, attempt }: LogPlace,
  offset: number,
  length: number,
  isLive: boolean,
) =>
  queryOptions({
    queryKey: [...keys.job(jobId), 'log times', task, attempt, offset],
    queryFn: async ({ signal }) => {
      const query = { task, attempt, offset, end: offset + length };
      const params = { path: { job_id: jobId }, query };
      const { items } = await answer(api.GET('/api/v1/jobs/{job_id}/logs/times', { params, signal }));
      return items.map(([at = 0, size = 0]) => [at, size] as const) as Times;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => {
      const isWhole = (state.data?.at(-1)?.[1] ?? 0) >= offset + length;
      return isLive && !isWhole ? TIMES_REFRESH_MS : false;
    },
  });

/** Where a text is in a log on the server, from its end upwards. */
export function searchOf({ jobId, task, attempt }: LogPlace, text: string): ReadPart {
  return async (before, signal) => {
    const params = { path: { job_id: jobId }, query: { text, task, attempt, before } };
    const page = await answer(api.GET('/api/v1/jobs/{job_id}/logs/search', { params, signal }));
    return { offsets: page.items, before: page.next_offset };
  };
}
