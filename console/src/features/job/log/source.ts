import { answer, api, call } from '@/api/client';
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

const MOST_MATCHES = 5000;

/** Where a text is in a whole log; told in parts, since a long log takes a while. */
export async function findInLog(
  place: LogPlace,
  text: string,
  signal: AbortSignal,
  onFound: (offsets: number[], isDone: boolean) => void,
): Promise<void> {
  const found: number[] = [];
  let offset: number | null = 0;
  while (offset !== null && found.length < MOST_MATCHES && !signal.aborted) {
    const { jobId, task, attempt } = place;
    const params: {
      path: { job_id: string };
      query: { text: string; task: string; attempt: number; offset: number };
    } = { path: { job_id: jobId }, query: { text, task, attempt, offset } };
    const page: { items: number[]; next_offset: number | null } = await answer(
      api.GET('/api/v1/jobs/{job_id}/logs/search', { params, signal }),
    );
    found.push(...page.items);
    offset = page.next_offset;
    onFound([...found], offset === null || found.length >= MOST_MATCHES);
  }
}
