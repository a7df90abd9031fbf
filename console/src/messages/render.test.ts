import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sentences as en, words as enWords } from './en';
import { type Message, render } from './render';
import { sentences as zh, words as zhWords } from './zh';

process.env.TZ = 'Asia/Shanghai';

interface Example {
  message: Message;
  en: string;
  zh: string;
}
const shared = new URL('../../../tests/fixtures/messages.json', import.meta.url);
const EXAMPLES: Example[] = JSON.parse(readFileSync(shared, 'utf8'));

test.each(EXAMPLES)('the console tells what the server tells: $en', (example) => {
  expect(render(example.message, { language: 'en', sentences: en, words: enWords })).toBe(example.en);
  expect(render(example.message, { language: 'zh', sentences: zh, words: zhWords })).toBe(example.zh);
});

test('a message that a newer server knows is left to its own words', () => {
  const message = { code: 'of_tomorrow', params: {} };
  expect(render(message, { language: 'zh', sentences: zh, words: zhWords })).toBeUndefined();
});

test('a missing parameter does not break a sentence', () => {
  const message = { code: 'stopped_by', params: {} };
  expect(render(message, { language: 'en', sentences: en, words: enWords })).toBe('stopped by ?');
});
