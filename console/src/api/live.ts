import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError, type JobEvent } from './client';
import { keys } from './queries';
import { followStream } from './stream';

const GATHER_MS = 250;
const LEAST_PAUSE_MS = 1000;
const MOST_JOBS_AT_ONCE = 50;

/** Renews what events have made old: at once when little happens, once a second when much does. */
export class Renewal {
  private readonly jobs = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private renewedAt = 0;

  constructor(private readonly client: QueryClient) {}

  note(jobId: string): void {
    this.jobs.add(jobId);
    this.timer ??= setTimeout(() => this.renew(), this.waitMs());
  }

  private waitMs(): number {
    return Math.max(GATHER_MS, this.renewedAt + LEAST_PAUSE_MS - Date.now());
  }

  private renew(): void {
    const ids = [...this.jobs];
    this.jobs.clear();
    this.timer = undefined;
    this.renewedAt = Date.now();
    const wanted =
      ids.length > MOST_JOBS_AT_ONCE ? [['job']] : ids.map((id) => keys.job(id) as readonly string[]);
    for (const queryKey of [keys.jobs, keys.platform, ...wanted]) {
      void this.client.invalidateQueries({ queryKey });
    }
  }

  stop(): void {
    clearTimeout(this.timer);
  }
}

/**
 * Follow everything that happens to visible jobs while the page is looked at; say whether that works.
 *
 * A browser opens six connections to a server at most, so pages in the background let theirs go, and
 * catch up from the last event when somebody returns to them.
 */
export function useLiveFeed(): boolean {
  const client = useQueryClient();
  const [isLive, setLive] = useState(true);
  useEffect(() => {
    const renewal = new Renewal(client);
    let lastId = '';
    let wasLost = false;
    let running: AbortController | undefined;

    const start = () => {
      if (running || document.hidden) return;
      running = new AbortController();
      followStream({
        path: '/api/v1/events/stream',
        signal: running.signal,
        lastId,
        onConnected: (isConnected) => {
          if (isConnected && wasLost) void client.invalidateQueries();
          wasLost = !isConnected;
          setLive(isConnected);
        },
        onMessage: (message) => {
          lastId = message.id || lastId;
          renewal.note((message.data as JobEvent).job_id);
        },
      }).catch((error: unknown) => {
        setLive(false);
        if (!(error instanceof ApiError)) throw error;
      });
    };
    const turn = () => {
      if (!document.hidden) {
        // Without an event so far there is nothing to go on from: look at everything again.
        if (!running && !lastId) void client.invalidateQueries();
        start();
        return;
      }
      running?.abort();
      running = undefined;
    };
    start();
    document.addEventListener('visibilitychange', turn);
    return () => {
      document.removeEventListener('visibilitychange', turn);
      running?.abort();
      renewal.stop();
    };
  }, [client]);
  return isLive;
}
