import { ApiError, call } from './client';

export interface Message {
  kind: string;
  id: string;
  data: unknown;
}

export interface StreamOptions {
  /** What to ask for, each time that a connection is made: it goes on where the last one broke. */
  request: () => { path: string; body: unknown };
  signal: AbortSignal;
  onMessage: (message: Message) => void;
  onConnected: (isConnected: boolean) => void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** The server says something every 15 s at least: after this long a connection is gone, whatever it pretends. */
const SILENCE_MS = 40_000;

/** Follow server-sent events until aborted; a refusal is thrown, anything else is tried again. */
export async function followStream(options: StreamOptions): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!options.signal.aborted) {
    try {
      for await (const message of connect(options)) {
        waitMs = FIRST_WAIT_MS;
        options.onMessage(message);
      }
    } catch (error) {
      if (options.signal.aborted) return;
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) throw error;
    }
    if (options.signal.aborted) return;
    options.onConnected(false);
    await pause(waitMs, options.signal);
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
  }
}

/** The messages of one connection, until it ends, breaks or falls silent. */
async function* connect(options: StreamOptions): AsyncGenerator<Message> {
  const lost = new AbortController();
  const lose = () => lost.abort();
  const signal = AbortSignal.any([options.signal, lost.signal]);
  let timer = setTimeout(lose, SILENCE_MS);
  addEventListener('offline', lose);
  try {
    const { path, body } = options.request();
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body), signal, cache: 'no-store' } as const;
    const response = await call(path, init);
    options.onConnected(true);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new EventParser();
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      clearTimeout(timer);
      timer = setTimeout(lose, SILENCE_MS);
      yield* parser.feed(read.value);
    }
  } finally {
    clearTimeout(timer);
    removeEventListener('offline', lose);
    lost.abort();
  }
}

/** Puts events together from pieces of text, however they are cut. */
export class EventParser {
  private rest = '';

  feed(text: string): Message[] {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    return blocks.flatMap((block) => readEvent(block) ?? []);
  }
}

function readEvent(block: string): Message | undefined {
  let kind = 'message';
  let id = '';
  let data = '';
  for (const line of block.split('\n')) {
    const [name, value] = split(line);
    if (name === 'event') kind = value;
    else if (name === 'id') id = value;
    else if (name === 'data') data += value;
  }
  return data ? { kind, id, data: JSON.parse(data) } : undefined;
}

function split(line: string): [string, string] {
  const colon = line.indexOf(':');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
    addEventListener('online', done);
  });
}
