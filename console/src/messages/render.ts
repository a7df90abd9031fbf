import type { Language } from '@/i18n/translated';
import type { Sentences, Words } from './codes';
import {
  type Amounts,
  amounts,
  duration,
  FORMATS,
  figure,
  listed,
  moment,
  number,
  size,
  span,
} from './formats';

/** Putting a message into words: the twin of the server's `render.py`; `template.py` says how sentences are written. */

export type Params = Readonly<Record<string, unknown>>;
export interface Message {
  code: string;
  params: Params;
}
export interface Table {
  language: Language;
  sentences: Sentences;
  words: Words;
}

type Part = string | { name: string; format: string } | { parts: Part[] };

const TOKEN = /\{(\w+)(?::([^{}]*))?\}|[[\]]|[^[\]{]+/g;
const parsed = new Map<string, Part[]>();

function parse(template: string): Part[] {
  const known = parsed.get(template);
  if (known) return known;
  const stack: Part[][] = [[]];
  const top = () => stack[stack.length - 1] ?? [];
  for (const [sign, name, format = ''] of template.matchAll(TOKEN)) {
    if (name) top().push({ name, format });
    else if (sign === '[') stack.push([]);
    else if (sign === ']') {
      const parts = stack.pop() ?? [];
      top().push({ parts });
    } else top().push(sign);
  }
  const whole = stack[0] ?? [];
  parsed.set(template, whole);
  return whole;
}

const isGiven = (value: unknown) =>
  value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0);

const isMessage = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && 'code' in value && 'params' in value;

/** A message in the language of a table; undefined where the table does not know it. */
export function render({ code, params }: Message, table: Table): string | undefined {
  const template = (table.sentences as Record<string, string>)[code];
  return template === undefined ? undefined : fill(parse(template), params, table);
}

function fill(parts: readonly Part[], params: Params, table: Table): string {
  return parts
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('name' in part) return show(params[part.name], part.format, table);
      const isWhole = part.parts.every(
        (one) => typeof one === 'string' || 'parts' in one || isGiven(params[one.name]),
      );
      return isWhole ? fill(part.parts, params, table) : '';
    })
    .join('');
}

function show(value: unknown, format: string, table: Table): string {
  const formats = FORMATS[table.language];
  if (value === null || value === undefined) return '?';
  const words = new Map<string, Record<string, string>>(Object.entries(table.words)).get(format);
  if (words) {
    if (Array.isArray(value))
      return listed(
        value.map((one) => words[String(one)] ?? String(one)),
        formats,
      );
    return words[String(value)] ?? String(value);
  }
  switch (format) {
    case 'size':
      return size(Number(value));
    case 'duration':
      return duration(Number(value), formats);
    case 'span':
      return span(Number(value), formats);
    case 'time':
      return moment(String(value));
    case 'amounts':
      return amounts(value as Amounts, formats);
    case 'figure':
      return figure(value as Amounts);
    case 'quoted':
      return formats.quotes.join(plain(value, table));
    case 'clauses':
      return several(value, table).join(formats.semicolon);
    case 'comma':
      return several(value, table).join(formats.comma);
  }
  const [one, many] = format.split('|');
  if (many === undefined) return plain(value, table);
  return `${number(Number(value))} ${value === 1 ? one : many}`;
}

const several = (value: unknown, table: Table) =>
  (Array.isArray(value) ? value : [value]).map((one) => plain(one, table));

function plain(value: unknown, table: Table): string {
  if (isMessage(value)) return render(value, table) ?? value.code;
  if (Array.isArray(value)) return listed(several(value, table), FORMATS[table.language]);
  return typeof value === 'number' ? number(value) : String(value);
}
