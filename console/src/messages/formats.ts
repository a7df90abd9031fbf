import type { Language } from '@/i18n/translated';

/** Numbers, sizes, times and amounts as the languages write them: the twin of the server's `formats.py`. */

const SIZES: [string, number][] = [
  ['TB', 1024 ** 4],
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
];
const SPANS = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
  ['s', 1],
] as const;
const DIMENSIONS = ['gpus', 'milli_cpus', 'memory_bytes'] as const;
type Dimension = (typeof DIMENSIONS)[number];
export type Amounts = Partial<Record<Dimension, number>> & { gpu_type?: string };

const MOST_LISTED = 8;
const pad = (n: number) => String(n).padStart(2, '0');

export const number = (value: number) => String(Number(value.toPrecision(12)));

export function size(bytes: number): string {
  const [unit, factor] = SIZES.find(([, factor]) => Math.abs(bytes) >= factor) ?? ['B', 1];
  return `${unit === 'B' ? number(bytes) : Number((bytes / factor).toPrecision(4))}${unit}`;
}

/** An instant as the reader's clock shows it, to the second. */
export function moment(instant: string): string {
  const at = new Date(instant);
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}

type Pair = readonly [one: string, many: string];

interface Formats {
  units: Record<'d' | 'h' | 'm' | 's', Pair>;
  resources: Record<Dimension, (figure: string, isOne: boolean) => string>;
  ofType: (amount: string, type: string) => string;
  comma: string;
  last: string;
  semicolon: string;
  quotes: Pair;
  more: (n: number) => string;
}

export const FORMATS: Record<Language, Formats> = {
  en: {
    units: { d: ['day', 'days'], h: ['hour', 'hours'], m: ['minute', 'minutes'], s: ['second', 'seconds'] },
    resources: {
      gpus: (figure, isOne) => `${figure} ${isOne ? 'GPU' : 'GPUs'}`,
      milli_cpus: (figure, isOne) => `${figure} ${isOne ? 'CPU' : 'CPUs'}`,
      memory_bytes: (figure) => `${figure} of memory`,
    },
    ofType: (amount, type) => `${amount} of type ${type}`,
    comma: ', ',
    last: ' and ',
    semicolon: '; ',
    quotes: ["'", "'"],
    more: (n) => `${n} more`,
  },
  zh: {
    units: { d: ['天', '天'], h: ['小时', '小时'], m: ['分钟', '分钟'], s: ['秒', '秒'] },
    resources: {
      gpus: (figure) => `${figure} 张 GPU`,
      milli_cpus: (figure) => `${figure} 核 CPU`,
      memory_bytes: (figure) => `${figure} 内存`,
    },
    ofType: (amount, type) => `${amount}（${type}）`,
    comma: '、',
    last: '、',
    semicolon: '；',
    quotes: ['“', '”'],
    more: (n) => `另外 ${n} 项`,
  },
};

const counted = (n: number, [one, many]: Pair) => `${n} ${n === 1 ? one : many}`;

/** A length of time exactly, in whole seconds. */
export function duration(seconds: number, { units }: Formats): string {
  let rest = Math.trunc(seconds);
  const parts: string[] = [];
  for (const [unit, factor] of SPANS) {
    const count = Math.floor(rest / factor);
    rest -= count * factor;
    if (count > 0) parts.push(counted(count, units[unit]));
  }
  return parts.join(' ') || counted(0, units.s);
}

/** A length of time in the largest unit that says enough of it. */
export function span(seconds: number, { units }: Formats): string {
  const [unit, factor] = SPANS.slice(0, 3).find(([, factor]) => seconds >= 2 * factor) ?? ['s', 1];
  return counted(Math.ceil(seconds / factor), units[unit]);
}

const figureOf: Record<Dimension, (n: number) => string> = {
  gpus: number,
  milli_cpus: (n) => number(n / 1000),
  memory_bytes: size,
};

/** How much it is of the one resource that is given, without its name. */
export function figure(wanted: Amounts): string {
  const name = DIMENSIONS.find((name) => name in wanted) ?? 'gpus';
  return figureOf[name](wanted[name] ?? 0);
}

/** All that is asked for. */
export function amounts(wanted: Amounts, formats: Formats): string {
  const some = DIMENSIONS.filter((name) => wanted[name]);
  const shown = some.length > 0 ? some : DIMENSIONS.filter((name) => name in wanted);
  return listed(
    shown.map((name) => {
      const n = wanted[name] ?? 0;
      const told = formats.resources[name](figureOf[name](n), n === (name === 'milli_cpus' ? 1000 : 1));
      return name === 'gpus' && wanted.gpu_type ? formats.ofType(told, wanted.gpu_type) : told;
    }),
    formats,
  );
}

export function listed(words: readonly string[], { comma, last, more }: Formats): string {
  const shown = words.slice(0, MOST_LISTED);
  if (words.length > MOST_LISTED) shown.push(more(words.length - MOST_LISTED));
  const end = shown.pop();
  return shown.length > 0 ? `${shown.join(comma)}${last}${end}` : (end ?? '');
}
