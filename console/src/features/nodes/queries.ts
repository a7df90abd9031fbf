import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api } from '@/api/client';
import { keys } from '@/api/queries';

const REFRESH_MS = 5000;

export type Span = '10m' | '2h' | '24h' | '30d';
export const SPANS: readonly Span[] = ['10m', '2h', '24h', '30d'];

export const nodeQuery = (name: string) =>
  queryOptions({
    queryKey: [...keys.platform, 'node', name],
    queryFn: ({ signal }) => answer(api.GET('/api/v1/nodes/{name}', { params: { path: { name } }, signal })),
    refetchInterval: REFRESH_MS,
  });

export const nodeUsageQuery = (name: string, since: Span, card?: number) =>
  queryOptions({
    queryKey: ['node usage', name, since, card],
    queryFn: ({ signal }) => {
      const params = { path: { name }, query: { since, card } };
      return answer(api.GET('/api/v1/nodes/{name}/usage', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
