import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api, call } from './client';
import { keys } from './queries';

/** What the submit, queue and admin pages read. */
const SLOW_REFRESH_MS = 30_000;
const MOST_WAITING = 500;
const AUDIT_PAGE = 50;

export const jobSchemaQuery = queryOptions({
  queryKey: ['job schema'],
  queryFn: () => answer(api.GET('/api/v1/schema/job')),
  staleTime: Number.POSITIVE_INFINITY,
});

export const strategiesQuery = queryOptions({
  queryKey: ['strategies'],
  queryFn: async () => (await answer(api.GET('/api/v1/strategies'))).items,
  staleTime: Number.POSITIVE_INFINITY,
});

export const imagesQuery = queryOptions({
  queryKey: [...keys.accounts, 'images'],
  queryFn: async () => (await answer(api.GET('/api/v1/images'))).items,
});

/** The instance types with how many of each fit now, in a queue. */
export const typesQuery = (queue?: string) =>
  queryOptions({
    queryKey: [...keys.platform, 'instance types', queue],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/instance-types', { params: { query: { queue } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: SLOW_REFRESH_MS,
  });

export const frameworksQuery = queryOptions({
  queryKey: [...keys.accounts, 'frameworks'],
  queryFn: async () => (await answer(api.GET('/api/v1/frameworks'))).items,
});

export const inferenceQuery = queryOptions({
  queryKey: [...keys.accounts, 'inference-environments'],
  queryFn: async () => (await answer(api.GET('/api/v1/inference-environments'))).items,
});

export const storagesQuery = queryOptions({
  queryKey: [...keys.accounts, 'storages'],
  queryFn: async () => (await answer(api.GET('/api/v1/storages'))).items,
});

export const channelsQuery = queryOptions({
  queryKey: [...keys.accounts, 'channels'],
  queryFn: async () => (await answer(api.GET('/api/v1/alerts/channels'))).items,
});

export const alertRulesQuery = queryOptions({
  queryKey: [...keys.accounts, 'alert rules'],
  queryFn: async () => (await answer(api.GET('/api/v1/alerts/rules'))).items,
});

export const alertSettingsQuery = queryOptions({
  queryKey: [...keys.accounts, 'alert settings'],
  queryFn: () => answer(api.GET('/api/v1/alerts/settings')),
});

const TOLD_REFRESH_MS = 5000;

export const deliveriesQuery = queryOptions({
  queryKey: [...keys.accounts, 'deliveries'],
  queryFn: async () => (await answer(api.GET('/api/v1/alerts/deliveries'))).items,
  // Notices are sent without an event of their own.
  refetchInterval: TOLD_REFRESH_MS,
});

export const secretsQuery = queryOptions({
  queryKey: [...keys.accounts, 'secrets'],
  queryFn: async () => (await answer(api.GET('/api/v1/secrets'))).items,
});

const BUILD_REFRESH_MS = 2000;

export const environmentsQuery = queryOptions({
  queryKey: [...keys.platform, 'environments'],
  queryFn: async () => (await answer(api.GET('/api/v1/environments'))).items,
  // Builds end without an event of their own.
  refetchInterval: ({ state }) =>
    state.data?.some(({ is_building }) => is_building) ? BUILD_REFRESH_MS : SLOW_REFRESH_MS,
});

export const buildLogQuery = (id: string, isBuilding: boolean) =>
  queryOptions({
    queryKey: [...keys.platform, 'build log', id],
    queryFn: async ({ signal }) =>
      (await call(`/api/v1/environments/${encodeURIComponent(id)}/log`, { signal })).text(),
    refetchInterval: isBuilding ? BUILD_REFRESH_MS : false,
  });

export const waitingQuery = (queue: string) =>
  queryOptions({
    queryKey: [...keys.platform, 'waiting', queue],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/waiting', { params: { query: { queue, limit: MOST_WAITING } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: SLOW_REFRESH_MS,
  });

export const usersQuery = queryOptions({
  queryKey: [...keys.accounts, 'users'],
  queryFn: async () => (await answer(api.GET('/api/v1/users'))).items,
});

export const userQuery = (name: string) =>
  queryOptions({
    queryKey: [...keys.accounts, 'user', name],
    queryFn: () => answer(api.GET('/api/v1/users/{name}', { params: { path: { name } } })),
  });

export const membersQuery = (queue: string) =>
  queryOptions({
    queryKey: [...keys.accounts, 'members', queue],
    queryFn: async () =>
      (await answer(api.GET('/api/v1/queues/{name}/members', { params: { path: { name: queue } } }))).items,
  });

export const settingsQuery = queryOptions({
  queryKey: [...keys.accounts, 'settings'],
  queryFn: () => answer(api.GET('/api/v1/settings')),
});

export interface AuditFilter {
  actor?: string;
  action?: string;
  subject?: string;
  since?: string;
  until?: string;
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.accounts, 'audit', filter],
    queryFn: async ({ pageParam, signal }) => {
      const query = { ...filter, before: pageParam, limit: AUDIT_PAGE };
      return (await answer(api.GET('/api/v1/audit', { params: { query }, signal }))).items;
    },
    initialPageParam: undefined as number | undefined,
    placeholderData: keepPreviousData,
    getNextPageParam: (page) => (page.length < AUDIT_PAGE ? undefined : page.at(-1)?.seq),
  });
