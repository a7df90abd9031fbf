import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api } from './client';
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

export const storagesQuery = queryOptions({
  queryKey: [...keys.accounts, 'storages'],
  queryFn: async () => (await answer(api.GET('/api/v1/storages'))).items,
});

export const secretsQuery = queryOptions({
  queryKey: [...keys.accounts, 'secrets'],
  queryFn: async () => (await answer(api.GET('/api/v1/secrets'))).items,
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
