import { ApiError, type Schemas } from './client';
import { followStream, type Message } from './stream';

/** What a page asks of the hub. */
export type Ask =
  | { kind: 'join'; key: string | null; after: number | null; logs: Record<string, LogWish> }
  | { kind: 'log'; name: string; wish: LogWish }
  | { kind: 'drop'; name: string }
  | { kind: 'alive' }
  | { kind: 'leave' };

/** What the hub tells a page; without the name of a log, it is about everything. */
export type News =
  | { kind: 'connected'; isConnected: boolean }
  | { kind: 'message'; name?: string; message: Message }
  | { kind: 'refused'; name?: string; status: number; error: unknown }
  /** Events may have been missed. */
  | { kind: 'gap' }
  | { kind: 'unknown' };

/** A log to follow; or the metrics of a job, of which only is told that there are new points. */
export type LogWish = Omit<Schemas['FollowedLog'], 'key'> & { isMetrics?: true };

interface Page {
  tell: (news: News) => void;
  heardAt: number;
  logs: Map<string, LogWish>;
}

/** Pages speak up every ten seconds while they are looked at; one that does not has gone without a word. */
export const ALIVE_MS = 10_000;
const SILENT_MS = 45_000;
/** Changes that come together make one new connection. */
const GATHER_MS = 20;
/** So many events are held for pages that come while others are there. */
const MOST_RECENT = 500;
/** As many as the server takes; a browser does not show so many pages at once. */
const MOST_LOGS = 32;

type Follow = typeof followStream;

/**
 * One connection to the server for all pages of a browser: the events, and the logs that pages show.
 *
 * A browser opens six connections to a server at most. With one for each log, the sixth page would wait for ever.
 */
export class Hub {
  private readonly pages = new Map<unknown, Page>();
  /** The pages as the connection knows them. */
  private asked: Page[] = [];
  private key: string | null = null;
  private lastSeq: number | null = null;
  /** The last events; all that came after `heldSince`. */
  private recent: Message[] = [];
  private heldSince = 0;
  private isConnected = false;
  private running: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    /** Given the half of a session that pages keep, where the hub itself has no such memory. */
    private readonly keep: (key: string) => void,
    private readonly follow: Follow = followStream,
    private readonly now: () => number = Date.now,
  ) {}

  /** Take in what a page says; `page` is whatever it is known by. */
  hear(page: unknown, ask: Ask, tell: (news: News) => void): void {
    if (ask.kind === 'join') {
      const logs = new Map(Object.entries(ask.logs));
      this.pages.set(page, { tell, heardAt: this.now(), logs });
      const isOther = this.key !== ask.key;
      this.key = ask.key;
      if (isOther && ask.key !== null) this.keep(ask.key);
      if (this.running && this.isConnected) tell({ kind: 'connected', isConnected: true });
      if (ask.after !== null) this.catchUp(ask.after, tell);
      if (!this.running || isOther || logs.size > 0) this.renew();
      return;
    }
    const known = this.pages.get(page);
    if (!known) {
      if (ask.kind !== 'leave') tell({ kind: 'unknown' });
      return;
    }
    known.heardAt = this.now();
    if (ask.kind === 'leave') this.forget(page);
    else if (ask.kind === 'log') this.change(() => known.logs.set(ask.name, ask.wish));
    else if (ask.kind === 'drop') this.change(() => known.logs.delete(ask.name));
  }

  /** Forget the pages that have gone without a word. */
  sweep(): void {
    for (const [page, { heardAt }] of this.pages) if (this.now() - heardAt > SILENT_MS) this.forget(page);
  }

  /** Tell a page what happened since it last looked; where nothing is held, the connection begins there. */
  private catchUp(after: number, tell: (news: News) => void): void {
    if (this.lastSeq === null) {
      this.lastSeq = this.heldSince = after;
      return;
    }
    if (after < this.heldSince) tell({ kind: 'gap' });
    for (const message of this.recent) if (Number(message.id) > after) tell({ kind: 'message', message });
  }

  private forget(page: unknown): void {
    const hadLogs = (this.pages.get(page)?.logs.size ?? 0) > 0;
    this.pages.delete(page);
    if (hadLogs || this.pages.size === 0) this.renew();
  }

  private change(make: () => unknown): void {
    make();
    this.renew();
  }

  /** Connect for what is wanted now. */
  private renew(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.running?.abort();
      this.running = undefined;
      if (this.pages.size > 0) this.connect();
      else this.rest();
    }, GATHER_MS);
  }

  /** Nobody looks: what happens until somebody does is read anew by then. */
  private rest(): void {
    this.isConnected = false;
    this.lastSeq = null;
    this.recent = [];
  }

  private connect(): void {
    const running = new AbortController();
    this.running = running;
    this.follow({
      request: () => ({ path: '/api/v1/stream', body: this.wanted() }),
      signal: running.signal,
      onConnected: (isConnected) => this.noteConnected(isConnected),
      onMessage: (message) => this.pass(message),
    }).catch((error: unknown) => {
      if (running.signal.aborted) return;
      const status = error instanceof ApiError ? error.status : 0;
      this.noteConnected(false);
      this.running = undefined;
      this.tellAll({ kind: 'refused', status, error: undefined });
    });
  }

  private wanted(): Schemas['Followed'] {
    this.asked = [...this.pages.values()];
    const wishes = this.asked.flatMap((page, index) =>
      [...page.logs].map(([name, wish]) => ({ ...wish, key: `${index} ${name}` })),
    );
    const logs = wishes.filter((wish) => !wish.isMetrics).map(({ isMetrics: _, ...wish }) => wish);
    const metrics = wishes.filter((wish) => wish.isMetrics).map(({ key, job }) => ({ key, job }));
    return { after: this.lastSeq, logs: logs.slice(-MOST_LOGS), metrics: metrics.slice(-MOST_LOGS) };
  }

  private noteConnected(isConnected: boolean): void {
    this.isConnected = isConnected;
    this.tellAll({ kind: 'connected', isConnected });
  }

  private tellAll(news: News): void {
    for (const { tell } of this.pages.values()) tell(news);
  }

  private pass(message: Message): void {
    if (message.kind === 'begin') {
      if (this.lastSeq === null) this.heldSince = Number(message.id);
      this.lastSeq = Number(message.id);
      return;
    }
    if (message.kind === 'event') {
      this.lastSeq = Number(message.id);
      this.recent.push(message);
      if (this.recent.length > MOST_RECENT) this.heldSince = Number(this.recent.shift()?.id);
      this.tellAll({ kind: 'message', message });
      return;
    }
    const { key, data } = message.data as { key: string; data: unknown };
    const space = key.indexOf(' ');
    const page = this.asked[Number(key.slice(0, space))];
    const name = key.slice(space + 1);
    const wish = page?.logs.get(name);
    if (!page || !wish) return;
    if (message.kind === 'refused') {
      page.logs.delete(name);
      page.tell({ kind: 'refused', name, ...(data as { status: number; error: unknown }) });
      return;
    }
    // Where a next connection goes on; one that has come to its end is not asked for again.
    if (message.kind === 'end') page.logs.delete(name);
    else page.logs.set(name, { ...wish, tail: undefined, offset: undefined, cursor: message.id });
    page.tell({ kind: 'message', name, message: { ...message, data } });
  }
}
