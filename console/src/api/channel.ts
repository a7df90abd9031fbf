import { ApiError, noteStatus, sessionKey } from './client';
import { ALIVE_MS, type Ask, Hub, type LogWish, type News } from './hub';
import type { Message } from './stream';

interface FeedListener {
  onConnected: (isConnected: boolean) => void;
  /** Nobody knows what happened meanwhile. */
  onGap: () => void;
  onEvent: (message: Message) => void;
}

interface LogListener {
  onMessage: (message: Message) => void;
  onRefused: (error: ApiError) => void;
}

interface FollowedLog {
  wish: LogWish;
  listener: LogListener;
}

type Send = (ask: Ask) => void;

/**
 * What happens on the server, for this page: through the one connection that all pages of the browser share.
 *
 * A page that nobody looks at takes no part in it. It goes on where it was when somebody returns.
 */
class Channel {
  private readonly feeds = new Set<FeedListener>();
  private readonly logs = new Map<string, FollowedLog>();
  private send: Send | undefined;
  private isJoined = false;
  private nLogs = 0;
  private lastSeq: number | null = null;

  /** Everything before this event is known: what was read came after it. */
  beginAt(seq: number): void {
    this.lastSeq ??= seq;
  }

  /** Follow the events of all jobs that can be seen. */
  follow(listener: FeedListener): () => void {
    this.feeds.add(listener);
    this.turn();
    return () => {
      this.feeds.delete(listener);
      this.turn();
    };
  }

  /** Follow the log of a job. */
  followLog(wish: LogWish, listener: LogListener): () => void {
    this.nLogs += 1;
    const name = String(this.nLogs);
    this.logs.set(name, { wish, listener });
    if (this.isJoined) this.say({ kind: 'log', name, wish });
    else this.turn();
    return () => {
      if (this.logs.delete(name) && this.isJoined) this.say({ kind: 'drop', name });
      this.turn();
    };
  }

  /** Be told whenever a job has told new points of its metrics. */
  followMetrics(job: string, onNews: () => void): () => void {
    const listener = { onMessage: onNews, onRefused: () => undefined };
    return this.followLog({ job, tasks: [], cursor: '', isMetrics: true }, listener);
  }

  /** Take part while there is something to follow and somebody who looks. */
  private turn(): void {
    this.send ??= this.open();
    const isWanted = !document.hidden && this.feeds.size + this.logs.size > 0;
    if (isWanted === this.isJoined) return;
    this.isJoined = isWanted;
    if (isWanted) this.join();
    else this.say({ kind: 'leave' });
  }

  private join(): void {
    const logs = Object.fromEntries([...this.logs].map(([name, { wish }]) => [name, wish]));
    this.say({ kind: 'join', key: sessionKey.current(), after: this.lastSeq, logs });
  }

  private say(ask: Ask): void {
    this.send?.(ask);
  }

  private open(): Send {
    document.addEventListener('visibilitychange', () => this.turn());
    addEventListener('pagehide', () => {
      if (this.isJoined) this.say({ kind: 'leave' });
      this.isJoined = false;
    });
    addEventListener('pageshow', () => this.turn());
    setInterval(() => this.isJoined && this.say({ kind: 'alive' }), ALIVE_MS);
    return typeof SharedWorker === 'undefined' ? this.ownHub() : this.sharedHub();
  }

  private sharedHub(): Send {
    const worker = new SharedWorker(new URL('./hub.worker.ts', import.meta.url), { type: 'module' });
    worker.port.onmessage = ({ data }: MessageEvent<News>) => this.take(data);
    worker.addEventListener('error', () => {
      this.send = this.ownHub();
      if (this.isJoined) this.join();
    });
    return (ask) => worker.port.postMessage(ask);
  }

  /** Where a browser knows no shared workers, each page has a connection of its own. */
  private ownHub(): Send {
    const hub = new Hub(() => undefined);
    return (ask) => hub.hear(this, ask, (news) => this.take(news));
  }

  private take(news: News): void {
    if (!this.isJoined) return;
    if (news.kind === 'unknown') this.join();
    else if (news.kind === 'connected') for (const feed of this.feeds) feed.onConnected(news.isConnected);
    else if (news.kind === 'gap') for (const feed of this.feeds) feed.onGap();
    else if (news.kind === 'refused') this.refuse(news);
    else if (news.name === undefined) this.note(news.message);
    else this.bring(news.name, news.message);
  }

  private note(event: Message): void {
    this.lastSeq = Number(event.id);
    for (const feed of this.feeds) feed.onEvent(event);
  }

  private refuse({ name, status, error }: Extract<News, { kind: 'refused' }>): void {
    if (name === undefined) {
      for (const feed of this.feeds) feed.onConnected(false);
      noteStatus(status);
      return;
    }
    const log = this.logs.get(name);
    this.logs.delete(name);
    log?.listener.onRefused(ApiError.of(status, error));
  }

  private bring(name: string, message: Message): void {
    const log = this.logs.get(name);
    if (!log) return;
    if (message.kind === 'end') this.logs.delete(name);
    else log.wish = { ...log.wish, tail: undefined, offset: undefined, cursor: message.id };
    log.listener.onMessage(message);
  }
}

export const channel = new Channel();
