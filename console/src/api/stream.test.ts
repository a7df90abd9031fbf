import { expect, test } from 'vitest';
import { EventParser } from './stream';

const SENT =
  'event: log\nid: 0|1|0=4\ndata: {"text":"a: b\\n"}\n\n: ping\n\nevent: end\ndata: {"state":"STOPPED"}\n\n';

test('events are read, pings are not', () => {
  expect(new EventParser().feed(SENT)).toEqual([
    { kind: 'log', id: '0|1|0=4', data: { text: 'a: b\n' } },
    { kind: 'end', id: '', data: { state: 'STOPPED' } },
  ]);
});

test('pieces may be cut anywhere', () => {
  const whole = new EventParser().feed(SENT);
  for (let cut = 1; cut < SENT.length; cut += 1) {
    const parser = new EventParser();
    expect([...parser.feed(SENT.slice(0, cut)), ...parser.feed(SENT.slice(cut))]).toEqual(whole);
  }
});
