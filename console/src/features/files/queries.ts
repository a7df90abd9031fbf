import { keepPreviousData, type QueryClient, type QueryKey, queryOptions } from '@tanstack/react-query';
import { answer, api, call, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { nameOf } from './paths';

export type Entry = Schemas['EntryBody'];
export type Storage = Schemas['StorageBody'];

export const PAGE_SIZE = 200;
const KEY = 'files';

const keyOf = (storage: string, path?: string) =>
  path === undefined ? [KEY, storage] : [KEY, storage, path];

/** One page of a folder; by name, as the server keeps them. */
export const folderQuery = (storage: string, path: string, after?: string, limit = PAGE_SIZE) =>
  queryOptions({
    queryKey: [...keyOf(storage, path), 'entries', after, limit],
    queryFn: ({ signal }) => {
      const query = { path, limit, page_token: after };
      const params = { path: { name: storage }, query };
      return answer(api.GET('/api/v1/storages/{name}/entries', { params, signal }));
    },
    placeholderData: keepPreviousData,
  });

export const usageQuery = (storage: string, path: string) =>
  queryOptions({
    queryKey: [...keyOf(storage, path), 'usage'],
    queryFn: ({ signal }) => {
      const params = { path: { name: storage }, query: { path } };
      return answer(api.GET('/api/v1/storages/{name}/usage', { params, signal }));
    },
    staleTime: 0,
  });

/** What was begun and not finished, on this machine or another. */
export const unfinishedQuery = (storage: string) =>
  queryOptions({
    queryKey: [KEY, storage, 'unfinished'],
    queryFn: async ({ signal }) => {
      const params = { path: { name: storage } };
      return (await answer(api.GET('/api/v1/storages/{name}/uploads', { params, signal }))).items;
    },
  });

const MOST_NAMES = 10_000;

/** Which of some names a folder has already. */
export async function takenIn(storage: string, path: string, names: readonly string[]): Promise<string[]> {
  const wanted = new Set(names);
  const taken: string[] = [];
  let after: string | undefined;
  do {
    const query = { path, limit: MOST_NAMES, page_token: after };
    const page = await answer(
      api.GET('/api/v1/storages/{name}/entries', { params: { path: { name: storage }, query } }),
    );
    for (const { name } of page.items) if (wanted.delete(name)) taken.push(name);
    after = page.next_page_token ?? undefined;
  } while (after !== undefined && wanted.size > 0);
  return taken;
}

/** Something on a storage has changed: ask anew for all that is shown of it. */
export const renewFiles = (client: QueryClient, storage: string) =>
  client.invalidateQueries({ queryKey: [KEY, storage] });

export const contentPath = (storage: string, path: string) =>
  `/api/v1/storages/${encodeURIComponent(storage)}/content?path=${encodeURIComponent(path)}`;

export const archivePath = (storage: string, path: string) =>
  `/api/v1/storages/${encodeURIComponent(storage)}/archive?path=${encodeURIComponent(path)}`;

export const JOB_PARTS = ['output', 'checkpoints', 'work', 'code'] as const;
export type JobPart = (typeof JOB_PARTS)[number];

export const isJobPart = (name: string | undefined): name is JobPart =>
  JOB_PARTS.some((part) => part === name);

/** The files in one folder of a job, not of those within. */
export const jobFolderQuery = (job: string, what: JobPart, path: string) =>
  queryOptions({
    queryKey: [...keys.job(job), 'folder', what, path],
    queryFn: async ({ signal }) => {
      const params = { path: { job_id: job, what }, query: { path, is_deep: false } };
      return answer(api.GET('/api/v1/jobs/{job_id}/files/{what}', { params, signal }));
    },
    staleTime: 0,
  });

export const jobDownloadPath = (job: string, what: JobPart, path: string) =>
  `/api/v1/jobs/${encodeURIComponent(job)}/download?${new URLSearchParams({ what, path })}`;

/** A file that can be looked at, wherever it lies. */
export interface FileSource {
  name: string;
  /** Where it lies, as people and commands write it. */
  place: string;
  address: string;
  key: QueryKey;
  preview: (signal: AbortSignal) => Promise<Schemas['PreviewBody']>;
}

export const storageFile = (storage: string, path: string): FileSource => ({
  name: nameOf(path),
  place: `${storage}:${path}`,
  address: contentPath(storage, path),
  key: [...keyOf(storage, path), 'preview'],
  preview: (signal) => {
    const params = { path: { name: storage }, query: { path } };
    return answer(api.GET('/api/v1/storages/{name}/preview', { params, signal }));
  },
});

export const jobFile = (job: string, what: JobPart, path: string): FileSource => ({
  name: nameOf(path),
  place: `${what}/${path}`,
  address: jobDownloadPath(job, what, path),
  key: [...keys.job(job), 'preview', what, path],
  preview: (signal) => {
    const params = { path: { job_id: job, what }, query: { path } };
    return answer(api.GET('/api/v1/jobs/{job_id}/files/{what}/preview', { params, signal }));
  },
});

export const previewQuery = ({ key, preview }: FileSource) =>
  queryOptions({ queryKey: key, queryFn: ({ signal }) => preview(signal) });

/** An image as the browser can draw it; whoever asks revokes the address. */
export const imageQuery = (address: string, type: string) =>
  queryOptions({
    queryKey: [KEY, 'image', address],
    queryFn: async ({ signal }) => new Blob([await (await call(address, { signal })).blob()], { type }),
    gcTime: 0,
  });
