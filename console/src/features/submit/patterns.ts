import type { Language } from '@/i18n/translated';

const CLASS = String.raw`\[((?:\\.|[^\]])+)\]`;
const NAME = new RegExp(`^\\^\\(?${CLASS}(?:${CLASS}(?:\\*|\\+|\\{[\\d,]+\\}))?(?:\\)\\?)?\\$$`);
const ONE_CLASS = new RegExp(`^\\^${CLASS}\\{[\\d,]+\\}\\$$`);
const NO_SPACES = /^\^\(?\\S(?:\+|\{[\d,]+\})(?:\)\?)?\$$/;

const RANGES: [string, Record<Language, string>][] = [
  ['A-Za-z', { en: 'letters', zh: '字母' }],
  ['0-9', { en: 'digits', zh: '数字' }],
];
const WORDS = {
  en: {
    and: (items: string[]) =>
      items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`,
    space: 'spaces',
    begins: (rest: string, first: string) => `${rest}; the first must be among ${first}`,
    noSpaces: 'a text without spaces',
    form: (pattern: string) => `of the form ${pattern}`,
  },
  zh: {
    and: (items: string[]) => items.join('、'),
    space: '空格',
    begins: (rest: string, first: string) => `${rest}，首字符须为${first}`,
    noSpaces: '不含空格的文本',
    form: (pattern: string) => `形如 ${pattern}`,
  },
};

/** What a pattern of the schema allows, in words. */
export function describePattern(pattern: string, language: Language): string {
  const say = WORDS[language];
  if (NO_SPACES.test(pattern)) return say.noSpaces;
  const single = ONE_CLASS.exec(pattern);
  if (single?.[1]) return describeClass(single[1], language);
  const [, first, rest] = NAME.exec(pattern) ?? [];
  if (first === undefined) return say.form(pattern.replace(/^\^\(?|(?:\)\?)?\$$/g, ''));
  if (rest === undefined || rest === first) return describeClass(first, language);
  return say.begins(describeClass(rest, language), describeClass(first, language));
}

function describeClass(members: string, language: Language): string {
  const items: string[] = [];
  let signs = members;
  for (const [range, names] of RANGES) {
    if (signs.includes(range)) items.push(names[language]);
    signs = signs.replace(range, '');
  }
  const bare = [...signs.replaceAll('\\', '')];
  if (bare.includes(' ')) items.push(WORDS[language].space);
  const others = bare.filter((sign) => sign !== ' ');
  if (others.length > 0) items.push(others.join(' '));
  return WORDS[language].and(items);
}
