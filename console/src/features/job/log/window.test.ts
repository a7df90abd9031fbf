import { expect, test } from 'vitest';
import { fold } from './lines';
import { CHUNK_BYTES, LogWindow, MOST_LINES, type Source } from './window';

/** A log in memory; a hole reads as one line that says so, as the server's does. */
class FakeLog implements Source {
  nReads = 0;

  constructor(
    public content: Uint8Array,
    private readonly hole: [number, number] = [-1, -1],
  ) {}

  async read(offset: number, limit: number) {
    this.nReads += 1;
    const size = this.content.length;
    const [start, end] = this.hole;
    if (offset >= start && offset < end) {
      return { bytes: new TextEncoder().encode('\n[dropped]\n'), offset, nextOffset: end, size };
    }
    const most = offset < start ? Math.min(limit, start - offset) : limit;
    const bytes = this.content.subarray(offset, offset + most);
    return { bytes, offset, nextOffset: offset + bytes.length, size };
  }

  grow(text: string): [string, number] {
    const offset = this.content.length;
    this.content = new Uint8Array([...this.content, ...new TextEncoder().encode(text)]);
    return [text, offset];
  }
}

const LINE_BYTES = 76;
const encode = (text: string) => new TextEncoder().encode(text);
const numbered = (n: number) =>
  encode(
    Array.from(
      { length: n },
      (_, index) => `line ${String(index).padStart(9, '0')} ${'x'.repeat(60)}\n`,
    ).join(''),
  );
const texts = (window: LogWindow) => {
  const { lines } = window.current();
  return Array.from({ length: lines.count }, (_, index) => lines.text(index));
};

test('an empty log has no lines', async () => {
  const window = new LogWindow(new FakeLog(encode('')));
  await window.openAtEnd();
  expect(texts(window)).toEqual([]);
  expect(window.current()).toMatchObject({ isReady: true, isAtEnd: true, size: 0 });
});

test('a long log opens at its end with few reads, and begins with a whole line', async () => {
  const log = new FakeLog(numbered(100_000));
  const window = new LogWindow(log);
  await window.openAtEnd();
  expect(log.nReads).toBeLessThanOrEqual(2);
  expect(texts(window).at(-1)).toMatch(/^line 000099999/);
  expect(texts(window)[0]).toMatch(/^line \d{9} x/);
});

test('scrolling up to the beginning meets every line once', async () => {
  const window = new LogWindow(new FakeLog(numbered(20_000)));
  await window.openAtEnd();
  while (window.current().lines.begin > 0) await window.extendUp();
  expect(texts(window)).toHaveLength(20_000);
  expect(texts(window)[0]).toMatch(/^line 000000000/);
  expect(new Set(texts(window)).size).toBe(20_000);
});

test('the scroll position moves by what came above', async () => {
  const window = new LogWindow(new FakeLog(numbered(20_000)));
  await window.openAtEnd();
  const before = window.current().lines.count;
  await window.extendUp();
  expect(window.current().shift).toBe(window.current().lines.count - before);
});

test('from the beginning down, nothing is missing and only some lines are held', async () => {
  const window = new LogWindow(new FakeLog(numbered(100_000)));
  await window.openAt(0);
  expect(texts(window)[0]).toMatch(/^line 000000000/);
  expect(window.current().isAtEnd).toBe(false);
  let last = '';
  while (!window.current().isAtEnd) await window.extendDown();
  last = texts(window).at(-1) ?? '';
  expect(last).toMatch(/^line 000099999/);
  expect(texts(window).length).toBeLessThanOrEqual(MOST_LINES);
  const numbers = texts(window).map((text) => Number(text.slice(5, 14)));
  expect(numbers.every((value, index) => index === 0 || value === (numbers[index - 1] ?? 0) + 1)).toBe(true);
});

test('a place in the middle is opened at its line', async () => {
  const content = numbered(50_000);
  const window = new LogWindow(new FakeLog(content));
  const offset = LINE_BYTES * 30_000;
  await window.openAt(offset);
  const { target, lines } = window.current();
  expect(lines.text(target ?? -1)).toBe(
    new TextDecoder().decode(content.subarray(offset, offset + LINE_BYTES - 1)),
  );
});

test('what is printed now is appended, a progress bar in its place', async () => {
  const log = new FakeLog(encode('start\n'));
  const window = new LogWindow(log);
  await window.openAtEnd();
  window.append(...log.grow('10%'));
  window.append(...log.grow('\r20%'));
  expect(texts(window)).toEqual(['start', '20%']);
  window.append(...log.grow('\r100%\nnext\n'));
  expect(texts(window)).toEqual(['start', '100%', 'next']);
});

test('what is printed while the log is opened is neither lost nor shown twice', async () => {
  const log = new FakeLog(encode('one\n'));
  const window = new LogWindow(log);
  const grown: [string, number][] = [];
  const read = log.read.bind(log);
  // It grows between the question for its size and the reading.
  log.read = async (offset, limit) => {
    const answer = await read(offset, limit);
    if (grown.length === 0) grown.push(log.grow('two\n'));
    return answer;
  };
  await window.openAtEnd();
  for (const [text, offset] of grown) window.append(text, offset);
  expect(texts(window)).toEqual(['one', 'two']);
  window.append('two\nthree\n', 4);
  expect(texts(window)).toEqual(['one', 'two', 'three']);
  window.append('two\n', 4);
  expect(texts(window)).toEqual(['one', 'two', 'three']);
});

test('what is printed while somebody reads elsewhere is not put there', async () => {
  const log = new FakeLog(numbered(50_000));
  const window = new LogWindow(log);
  await window.openAt(0);
  const before = texts(window).length;
  window.append(...log.grow('new\n'));
  expect(texts(window)).toHaveLength(before);
  expect(window.current().size).toBe(log.content.length);
});

test('characters of several bytes are whole, whatever the chunks', async () => {
  const log = new FakeLog(encode('训练进度 ✓ 完成\n'.repeat(40_000)));
  const window = new LogWindow(log);
  await window.openAtEnd();
  await window.extendUp();
  expect(new Set(texts(window))).toEqual(new Set(['训练进度 ✓ 完成']));
});

test('a part that was dropped is told and passed', async () => {
  const log = new FakeLog(numbered(100_000), [LINE_BYTES * 1000, LINE_BYTES * 90_000]);
  const window = new LogWindow(log);
  await window.openAtEnd();
  for (let tries = 0; window.current().lines.begin > 0 && tries < 30; tries += 1) await window.extendUp();
  expect(window.current().lines.begin).toBe(0);
  expect(texts(window)).toContain('[dropped]');
  expect(texts(window)[0]).toMatch(/^line 000000000/);
});

test('a line longer than a chunk is shown', async () => {
  const log = new FakeLog(encode(`first\n${'y'.repeat(3 * CHUNK_BYTES)}\nlast\n`));
  const window = new LogWindow(log);
  await window.openAtEnd();
  expect(texts(window).at(-1)).toBe('last');
  while (window.current().lines.begin > 0) await window.extendUp();
  expect(texts(window)[0]).toBe('first');
});

test('redrawn lines show what a terminal would in the end', () => {
  expect(fold('a\rb\rc')).toBe('c');
  expect(fold('a\rb\r')).toBe('b');
  expect(fold('plain')).toBe('plain');
  expect(fold('windows\r')).toBe('windows');
});

test('what the stream brings while the same is being read is shown once', async () => {
  const log = new FakeLog(encode('one\n'));
  const window = new LogWindow(log);
  await window.openAtEnd();
  const [second, at] = log.grow('two\n');
  log.grow('three\n');
  window.append('', log.content.length);
  const reading = window.extendDown();
  window.append(second, at);
  await reading;
  await window.extendDown();
  expect(texts(window)).toEqual(['one', 'two', 'three']);
  expect(window.current().isAtEnd).toBe(true);
});
