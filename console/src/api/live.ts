import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { channel } from './channel';
import type { JobEvent } from './client';
import { keys } from './queries';

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

/** Follow everything that happens to visible jobs while the page is looked at; say whether that works. */
export function useLiveFeed(): boolean {
  const client = useQueryClient();
  const [isLive, setLive] = useState(true);
  useEffect(() => {
    const renewal = new Renewal(client);
    const readAgain = () => void client.invalidateQueries();
    let wasLost = false;
    const note = (isConnected: boolean) => {
      // The worker that holds the connection may not have noticed yet that there is no network.
      const isOn = isConnected && navigator.onLine;
      // What could not be asked while the server was away is asked now.
      if (isOn && wasLost) readAgain();
      wasLost = !isOn;
      setLive(isOn);
    };
    const leave = channel.follow({
      onConnected: note,
      onGap: readAgain,
      onEvent: ({ data }) => renewal.note((data as JobEvent).job_id),
    });
    const lose = () => note(false);
    const find = () => note(true);
    // The shared connection notices by itself too, but not at once.
    addEventListener('offline', lose);
    addEventListener('online', find);
    return () => {
      removeEventListener('offline', lose);
      removeEventListener('online', find);
      leave();
      renewal.stop();
    };
  }, [client]);
  return isLive;
}
