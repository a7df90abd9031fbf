import { expect, test, vi } from 'vitest';
import { Hub, type LogWish, type News } from './hub';
import type { StreamOptions } from './stream';

const log = (job: string): LogWish => ({ job, tasks: ['main-0'], offset: 0, cursor: '' });

/** A server that notes what it was asked for, and says what it is told to. */
class FakeServer {
  readonly connections: StreamOptions[] = [];
  readonly asked: { after: number | null; logs: { key: string; job: string; cursor: string }[] }[] = [];

  follow = (options: StreamOptions): Promise<void> => {
    this.connections.push(options);
    this.asked.push(options.request().body as never);
    options.onConnected(true);
    return new Promise(() => undefined);
  };

  get open(): StreamOptions[] {
    return this.connections.filter(({ signal }) => !signal.aborted);
  }

  say(kind: string, data: unknown, id = ''): void {
    for (const { onMessage } of this.open) onMessage({ kind, data, id });
  }

  sayOf(job: string, kind: string, data: unknown, id = ''): void {
    const key = this.asked.at(-1)?.logs.find((one) => one.job === job)?.key;
    this.say(kind, { key, data }, id);
  }
}

function scene() {
  vi.useFakeTimers();
  const server = new FakeServer();
  let time = 0;
  const hub = new Hub(
    () => undefined,
    server.follow,
    () => time,
  );
  const page = (name: string) => {
    const news: News[] = [];
    const hear = (ask: Parameters<Hub['hear']>[1]) => {
      hub.hear(name, ask, (one) => news.push(one));
      vi.runOnlyPendingTimers();
    };
    const texts = () =>
      news.flatMap((one) => (one.kind === 'message' && one.message.kind === 'log' ? [one.message.data] : []));
    return {
      news,
      hear,
      texts,
      join: (logs = {}, after: number | null = null) => hear({ kind: 'join', key: 'k', after, logs }),
    };
  };
  return { server, hub, page, pass: (ms: number) => (time += ms) };
}

test('many pages with many logs have one connection', () => {
  const { server, page } = scene();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) page(name).join({ '1': log(name) });
  expect(server.open).toHaveLength(1);
  expect(server.asked.at(-1)?.logs.map(({ job }) => job)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
});

test('each page gets its own log, and all get the events', () => {
  const { server, page } = scene();
  const [one, other] = [page('one'), page('other')];
  one.join({ '1': log('x') });
  other.join({ '1': log('y') });
  server.sayOf('x', 'log', 'of x');
  server.sayOf('y', 'log', 'of y');
  server.say('event', { job_id: 'x' }, '7');
  expect(one.texts()).toEqual(['of x']);
  expect(other.texts()).toEqual(['of y']);
  for (const { news } of [one, other])
    expect(news.at(-1)).toEqual({
      kind: 'message',
      message: { kind: 'event', data: { job_id: 'x' }, id: '7' },
    });
});

test('a new connection goes on where the last one was', () => {
  const { server, page } = scene();
  const one = page('one');
  one.join({ '1': log('x') });
  server.say('begin', {}, '41');
  server.sayOf('x', 'log', 'some', '0|41|0=4');
  server.say('event', { job_id: 'x' }, '42');
  page('other').join({ '1': log('y') });
  expect(server.asked.at(-1)?.after).toBe(42);
  expect(server.asked.at(-1)?.logs[0]).toMatchObject({ job: 'x', cursor: '0|41|0=4' });
  expect(server.asked.at(-1)?.logs[0]).not.toHaveProperty('offset', 0);
});

test('a page that comes later is told what it missed, and begins where it looked last', () => {
  const { server, page } = scene();
  page('one').join({}, 40);
  expect(server.asked.at(-1)?.after).toBe(40);
  server.say('begin', {}, '40');
  for (const seq of ['41', '42', '43']) server.say('event', { job_id: seq }, seq);
  const other = page('other');
  other.join({}, 41);
  const seen = other.news.flatMap((one) => (one.kind === 'message' ? [one.message.id] : []));
  expect(seen).toEqual(['42', '43']);
  expect(other.news).not.toContainEqual({ kind: 'gap' });
  const late = page('late');
  late.join({}, 39);
  expect(late.news).toContainEqual({ kind: 'gap' });
});

test('the connection is let go of when the last page leaves', () => {
  const { server, page } = scene();
  const one = page('one');
  one.join();
  one.hear({ kind: 'leave' });
  expect(server.open).toHaveLength(0);
});

test('a page without a log comes and goes without a new connection', () => {
  const { server, page } = scene();
  page('one').join({ '1': log('x') });
  const other = page('other');
  other.join();
  expect(other.news).toEqual([{ kind: 'connected', isConnected: true }]);
  other.hear({ kind: 'leave' });
  expect(server.connections).toHaveLength(1);
});

test('a log that has ended, or is refused, is not asked for again', () => {
  const { server, page } = scene();
  const one = page('one');
  one.join({ '1': log('x'), '2': log('y') });
  server.sayOf('x', 'end', { state: 'SUCCEEDED' });
  server.sayOf('y', 'refused', { status: 404, error: { code: 'not_found' } });
  expect(one.news.at(-1)).toEqual({ kind: 'refused', name: '2', status: 404, error: { code: 'not_found' } });
  page('other').join({ '1': log('z') });
  expect(server.asked.at(-1)?.logs.map(({ job }) => job)).toEqual(['z']);
});

test('a page that went without a word is forgotten, and told so should it return', () => {
  const { server, hub, page, pass } = scene();
  const one = page('one');
  one.join({ '1': log('x') });
  pass(60_000);
  hub.sweep();
  vi.runOnlyPendingTimers();
  expect(server.open).toHaveLength(0);
  one.hear({ kind: 'alive' });
  expect(one.news.at(-1)).toEqual({ kind: 'unknown' });
});

test('somebody else who signs in gets a connection of their own', () => {
  const { server, page } = scene();
  page('one').join();
  page('other').hear({ kind: 'join', key: 'another', after: null, logs: {} });
  expect(server.connections).toHaveLength(2);
  expect(server.open).toHaveLength(1);
});
