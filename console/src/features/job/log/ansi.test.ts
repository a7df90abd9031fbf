import { expect, test } from 'vitest';
import { marked, segments, stripAnsi } from './ansi';
import { contrast, LEAST_CONTRAST } from './looks';

const ESC = '\x1b';

test('a colour lasts until it is reset', () => {
  const found = segments(`a${ESC}[31mred${ESC}[0mb`);
  expect(found.map(({ text, color }) => [text, color])).toEqual([
    ['a', undefined],
    ['red', 'var(--ansi-1)'],
    ['b', undefined],
  ]);
});

test('colours by number and by channels are read', () => {
  expect(segments(`${ESC}[38;5;196mx`)[0]?.color).toContain('rgb(255 0 0)');
  expect(segments(`${ESC}[38;5;244mx`)[0]?.color).toContain('rgb(128 128 128)');
  expect(segments(`${ESC}[38;2;1;2;3mx`)[0]?.color).toContain('rgb(1 2 3)');
  expect(segments(`${ESC}[1;4;92mx`)[0]).toMatchObject({
    classes: 'bold underline',
    color: 'var(--ansi-10)',
  });
});

test('writing on a coloured ground can be read, whichever two colours meet', () => {
  const channels = (text = '') => text.match(/\d+/g)?.map(Number) ?? [];
  for (let ground = 0; ground < 256; ground += 1) {
    for (const ink of [undefined, 1, 4, 7, 8, 15, 46, 196, 244]) {
      const [part] = segments(`${ink === undefined ? '' : `${ESC}[38;5;${ink}m`}${ESC}[48;5;${ground}mx`);
      const found = contrast(channels(part?.color), channels(part?.background));
      expect(found, `${ink} on ${ground}`).toBeGreaterThanOrEqual(LEAST_CONTRAST);
    }
  }
});

test('inverse and struck out are drawn, and end', () => {
  const [plain, turned, red, back] = segments(`a${ESC}[7mb${ESC}[31mc${ESC}[27;39md`);
  expect(plain).toEqual({ text: 'a', classes: '' });
  expect(turned).toMatchObject({ color: 'var(--code-bg)', background: 'var(--text)' });
  expect(red?.background).toBe('rgb(179 38 30)');
  expect(back).toEqual({ text: 'd', classes: '' });
  expect(segments(`${ESC}[9mgone${ESC}[29m`)[0]?.classes).toBe('strike');
});

test('what steers a terminal is left out', () => {
  expect(stripAnsi(`${ESC}[2K${ESC}[1Aup${ESC}]8;;http://x${ESC}\\link${ESC}]0;title\x07\x08!`)).toBe(
    'uplink!',
  );
});

test('an escape that was cut off at the end of a line does no harm', () => {
  expect(segments(`ok${ESC}`).map(({ text }) => text)).toEqual(['ok']);
});

test('what is looked for is found across colours, in any case', () => {
  const found = marked(segments(`Lo${ESC}[31mSS=1${ESC}[0m loss`), 'loss');
  expect(found.filter((part) => part.isMatch).map(({ text }) => text)).toEqual(['Lo', 'SS', 'loss']);
  expect(found.map(({ text }) => text).join('')).toBe('LoSS=1 loss');
});
