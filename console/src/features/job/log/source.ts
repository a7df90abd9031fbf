import { answer, api, call } from '@/api/client';
import type { ReadPart } from './matches';
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

/** Where a text is in a log on the server, from its end upwards. */
export function searchOf({ jobId, task, attempt }: LogPlace, text: string): ReadPart {
  return async (before, signal) => {
    const params = { path: { job_id: jobId }, query: { text, task, attempt, before } };
    const page = await answer(api.GET('/api/v1/jobs/{job_id}/logs/search', { params, signal }));
    return { offsets: page.items, before: page.next_offset };
  };
}
