import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api } from '@/api/client';
import { keys } from '@/api/queries';

const MOST = 200;
export const modelKeys = [...keys.accounts, 'models'];

export interface Wanted {
  search?: string;
  job?: string;
  trash?: boolean;
}

export const modelsQuery = (wanted: Wanted) =>
  queryOptions({
    queryKey: [...modelKeys, 'list', wanted],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/models', { params: { query: { ...wanted, limit: MOST } }, signal })),
    placeholderData: keepPreviousData,
  });

export const modelQuery = (model: string) =>
  queryOptions({
    queryKey: [...modelKeys, 'one', model],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/models/{model}', { params: { path: { model } }, signal })),
  });

export const versionQuery = (model: string, version: string) =>
  queryOptions({
    queryKey: [...modelKeys, 'version', model, version],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/v1/models/{model}/versions/{version}', {
          params: { path: { model, version } },
          signal,
        }),
      ),
  });

export const comparisonQuery = (model: string, first: string, second: string) =>
  queryOptions({
    queryKey: [...modelKeys, 'comparison', model, first, second],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/v1/models/{model}/compare', {
          params: { path: { model }, query: { first, second } },
          signal,
        }),
      ),
  });
