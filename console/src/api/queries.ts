import { keepPreviousData, type QueryClient, queryOptions } from '@tanstack/react-query';
import { channel } from './channel';
import { answer, api, call, type JobDetail, type JobEvent, type JobState } from './client';

/** What a list of jobs is asked for; absent means all. */
export interface JobFilter {
  search?: string;
  state?: readonly JobState[];
  queue?: readonly string[];
  owner?: readonly string[];
  tag?: string;
  trash?: boolean;
  sort?: string;
  after?: string;
  limit?: number;
}

const SLOW_REFRESH_MS = 30_000;

export const keys = {
  session: ['session'] as const,
  jobs: ['jobs'] as const,
  job: (id: string) => ['job', id] as const,
  platform: ['platform'] as const,
  accounts: ['accounts'] as const,
};

/** Put what a change answered into a job's place; an answer from before it, still under way, comes too late. */
export async function putJob(client: QueryClient, id: string, changed: JobDetail): Promise<void> {
  await client.cancelQueries({ queryKey: keys.job(id), exact: true });
  client.setQueryData(keys.job(id), changed);
  void client.invalidateQueries({ queryKey: keys.job(id) });
  void client.invalidateQueries({ queryKey: keys.jobs });
}

export const sessionQuery = queryOptions({
  queryKey: keys.session,
  queryFn: async () => {
    const { user, last_event } = await answer(api.GET('/api/v1/session'));
    if (user !== null) channel.beginAt(last_event);
    return user;
  },
  staleTime: Number.POSITIVE_INFINITY,
});

export const jobsQuery = (filter: JobFilter) =>
  queryOptions({
    queryKey: [...keys.jobs, filter],
    queryFn: ({ signal }) => {
      const { after, state, queue, owner, ...rest } = filter;
      const query = {
        ...rest,
        state: [...(state ?? [])],
        queue: [...(queue ?? [])],
        owner: [...(owner ?? [])],
        page_token: after,
      };
      return answer(api.GET('/api/v1/jobs', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: SLOW_REFRESH_MS,
  });

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: keys.job(id),
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/jobs/{job_id}', { params: { path: { job_id: id } }, signal })),
    refetchInterval: SLOW_REFRESH_MS,
  });

export const attemptsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.job(id), 'attempts'],
    queryFn: async () =>
      (await answer(api.GET('/api/v1/jobs/{job_id}/attempts', { params: { path: { job_id: id } } }))).items,
  });

const EVENTS_AT_ONCE = 1000;
const MOST_EVENTS = 20_000;

/** Which of a job's files there are: looked up anew whenever somebody asks. */
export const jobFilesQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.job(id), 'files'],
    queryFn: async () =>
      (await answer(api.GET('/api/v1/jobs/{job_id}/files', { params: { path: { job_id: id } } }))).items,
    staleTime: 0,
  });

export const jobEventsQuery = (id: string) =>
  queryOptions({
    queryKey: [...keys.job(id), 'events'],
    queryFn: async () => {
      const found: JobEvent[] = [];
      for (let after = 0; found.length < MOST_EVENTS; ) {
        const params = { path: { job_id: id }, query: { limit: EVENTS_AT_ONCE, after } };
        const page = await answer(api.GET('/api/v1/jobs/{job_id}/events', { params }));
        found.push(...page.items);
        after = page.next_after;
        if (page.items.length < EVENTS_AT_ONCE) break;
      }
      return found;
    },
  });

const MOST_LAST_BYTES = 65_536;

/** The last lines of a task's log. */
export const lastLinesQuery = (place: { jobId: string; task: string; attempt: number }, nLines: number) =>
  queryOptions({
    queryKey: [...keys.job(place.jobId), 'last lines', place, nLines],
    queryFn: async ({ signal }) => {
      const { jobId, task, attempt } = place;
      const query = new URLSearchParams({
        task,
        attempt: String(attempt),
        tail: String(nLines),
        limit: String(MOST_LAST_BYTES),
      });
      const text = await (await call(`/api/v1/jobs/${jobId}/logs?${query}`, { signal })).text();
      return text === '' ? [] : text.replace(/\n$/, '').split('\n');
    },
  });

const USAGE_REFRESH_MS = 5000;

export const usageQuery = (id: string, task: string, isLive: boolean) =>
  queryOptions({
    queryKey: ['usage', id, task],
    queryFn: ({ signal }) => {
      const params = { path: { job_id: id }, query: { task } };
      return answer(api.GET('/api/v1/jobs/{job_id}/usage', { params, signal }));
    },
    refetchInterval: isLive ? USAGE_REFRESH_MS : false,
  });

export const summaryQuery = queryOptions({
  queryKey: [...keys.platform, 'summary'],
  queryFn: () => {
    const since = new Date(new Date().setHours(0, 0, 0, 0)).toISOString();
    return answer(api.GET('/api/v1/summary', { params: { query: { since } } }));
  },
  refetchInterval: SLOW_REFRESH_MS,
});

const HISTORY_REFRESH_MS = 60_000;

/** Not below `platform`: each event would count a whole day anew. */
export const historyQuery = queryOptions({
  queryKey: ['history'],
  queryFn: () => answer(api.GET('/api/v1/summary/history')),
  staleTime: HISTORY_REFRESH_MS,
  refetchInterval: HISTORY_REFRESH_MS,
});

export const nodesQuery = queryOptions({
  queryKey: [...keys.platform, 'nodes'],
  queryFn: async () => (await answer(api.GET('/api/v1/nodes'))).items,
  refetchInterval: SLOW_REFRESH_MS,
});

export const enginesQuery = queryOptions({
  queryKey: [...keys.platform, 'engines'],
  queryFn: async () => (await answer(api.GET('/api/v1/engines'))).items,
});

export const queuesQuery = queryOptions({
  queryKey: [...keys.platform, 'queues'],
  queryFn: async () => (await answer(api.GET('/api/v1/queues'))).items,
  refetchInterval: SLOW_REFRESH_MS,
});

export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: () => answer(api.GET('/api/v1/version')),
  staleTime: Number.POSITIVE_INFINITY,
});

export const tokensQuery = queryOptions({
  queryKey: [...keys.accounts, 'tokens'],
  queryFn: async () => (await answer(api.GET('/api/v1/tokens'))).items,
});
