import { expect, test } from 'vitest';
import type { JobEvent } from '@/api/client';
import { MergedLog, MOST } from './merged';

const shown = async (log: MergedLog) => {
  await Promise.resolve();
  return log.current().lines.map(({ task, text }) => `${task} ${text}`.trim());
};
const event = (message: string, at: number) =>
  ({ message, at: new Date(at * 1000).toISOString() }) as JobEvent;

test('what was printed before is shown in the order of its times, once it is all there', async () => {
  const log = new MergedLog();
  log.step(event('begins', 0));
  log.step(event('a ended', 4));
  log.output({
    task: 'a',
    text: 'a1\na2\n',
    offset: 10,
    times: [
      [1, 13],
      [3, 16],
    ],
  });
  log.output({
    task: 'b',
    text: '训1\nb2\nb3\nb',
    offset: 0,
    times: [
      [2, 5],
      [5, 8],
    ],
  });
  expect(await shown(log)).toEqual([]);
  log.settle();
  expect(await shown(log)).toEqual(['begins', 'a a1', 'b 训1', 'a a2', 'a ended', 'b b2', 'b b3', 'b b']);
});

test('from then on lines come as they are printed, cut wherever', async () => {
  const log = new MergedLog();
  log.settle();
  log.output({ task: 'a', text: 'on', offset: 0 });
  log.output({ task: 'b', text: 'x\n', offset: 0 });
  expect(await shown(log)).toEqual(['b x', 'a on']);
  log.output({ task: 'a', text: 'e\n', offset: 2 });
  log.settle();
  expect(await shown(log)).toEqual(['b x', 'a one']);
});

test('a server that tells no times leaves each task in one piece', async () => {
  const log = new MergedLog();
  log.output({ task: 'a', text: '1\n2\n', offset: 0 });
  log.output({ task: 'b', text: '1\n2\n', offset: 0 });
  log.settle();
  expect(await shown(log)).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
});

test('of very many lines from before the latest are kept, whichever task printed them', async () => {
  const log = new MergedLog();
  const many = Array.from({ length: 200_000 }, (_, index) => `${index}\n`).join('');
  log.output({ task: 'new', text: 'last\n', offset: 0, times: [[9, 5]] });
  log.output({ task: 'old', text: many, offset: 0, times: [[1, many.length]] });
  log.settle();
  const lines = await shown(log);
  expect(lines.length).toBe(MOST);
  expect(lines.at(-1)).toBe('new last');
  expect(lines.at(-2)).toBe('old 199999');
  expect(lines[0]).toBe(`old ${200_000 - MOST + 1}`);
});

test('more lines at once than are kept leave no more than that', async () => {
  const log = new MergedLog();
  log.settle();
  log.output({ task: 'a', text: 'x\n'.repeat(3 * MOST), offset: 0 });
  expect((await shown(log)).length).toBe(MOST);
  expect(log.current().shift).toBe(-2 * MOST);
});
