import { type Color, inverted, type Looks, looksOf } from './looks';

/** A run of text with one look. */
export interface Segment extends Looks {
  text: string;
  classes: string;
}

interface Pen {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  isInverse: boolean;
  color?: Color;
  background?: Color;
}

const PLAIN: Pen = {
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  isInverse: false,
};
// Colour changes; everything else that steers a terminal, titles and links included, is left out.
const ESCAPES =
  /\x1b(?:\[([0-9;:]*)m|\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_]?)|[\x00-\x08\x0b-\x1a\x7f]/g;

export function stripAnsi(line: string): string {
  return line.replace(ESCAPES, '');
}

/** A line as a terminal would colour it. */
export function segments(line: string): Segment[] {
  const found: Segment[] = [];
  let pen = PLAIN;
  let from = 0;
  const put = (text: string) => {
    if (!text) return;
    const { color, background, isInverse } = pen;
    const looks = isInverse ? inverted(color, background) : looksOf(color, background);
    found.push({ text, classes: classesOf(pen), ...looks });
  };
  for (const match of line.matchAll(ESCAPES)) {
    put(line.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[1] !== undefined) pen = moved(pen, match[1]);
  }
  put(line.slice(from));
  return found;
}

function classesOf(pen: Pen): string {
  const names = (['bold', 'dim', 'italic', 'underline', 'strike'] as const).filter((name) => pen[name]);
  return names.join(' ');
}

function moved(pen: Pen, codes: string): Pen {
  const numbers = codes.split(/[;:]/).map(Number);
  let next: Pen = { ...pen };
  for (let index = 0; index < numbers.length; index += 1) {
    const code = numbers[index] ?? 0;
    if (code === 38 || code === 48) {
      const [color, used] = extended(numbers, index + 1);
      if (code === 38) next.color = color;
      else next.background = color;
      index += used;
    } else {
      next = applied(next, code);
    }
  }
  return next;
}

function applied(pen: Pen, code: number): Pen {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...pen, bold: true };
  if (code === 2) return { ...pen, dim: true };
  if (code === 3) return { ...pen, italic: true };
  if (code === 4) return { ...pen, underline: true };
  if (code === 7) return { ...pen, isInverse: true };
  if (code === 9) return { ...pen, strike: true };
  if (code === 22) return { ...pen, bold: false, dim: false };
  if (code === 23) return { ...pen, italic: false };
  if (code === 24) return { ...pen, underline: false };
  if (code === 27) return { ...pen, isInverse: false };
  if (code === 29) return { ...pen, strike: false };
  if (code === 39) return { ...pen, color: undefined };
  if (code === 49) return { ...pen, background: undefined };
  if (code >= 30 && code <= 37) return { ...pen, color: code - 30 };
  if (code >= 90 && code <= 97) return { ...pen, color: code - 82 };
  if (code >= 40 && code <= 47) return { ...pen, background: code - 40 };
  if (code >= 100 && code <= 107) return { ...pen, background: code - 92 };
  return pen;
}

/** `38;5;n` and `38;2;r;g;b`: the colour, and how many numbers it took. */
function extended(numbers: readonly number[], at: number): [Color | undefined, number] {
  if (numbers[at] === 5) return [indexed(numbers[at + 1] ?? 0), 2];
  const [red = 0, green = 0, blue = 0] = numbers.slice(at + 1, at + 4).map(channel);
  return numbers[at] === 2 ? [[red, green, blue], 4] : [undefined, 1];
}

const channel = (value: number) => Math.min(255, Math.max(0, value || 0));

function indexed(index: number): Color {
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const cube = index - 16;
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

/** Cut segments where a text that somebody looks for begins and ends. */
export function marked(parts: readonly Segment[], wanted: string): (Segment & { isMatch: boolean })[] {
  const text = parts.map((part) => part.text).join('');
  const spans = wanted ? matches(text.toLowerCase(), wanted.toLowerCase()) : [];
  if (spans.length === 0) return parts.map((part) => ({ ...part, isMatch: false }));
  const found: (Segment & { isMatch: boolean })[] = [];
  let at = 0;
  for (const part of parts) {
    const cuts = spans.flat().filter((cut) => cut > at && cut < at + part.text.length);
    const edges = [at, ...cuts, at + part.text.length];
    for (let index = 0; index + 1 < edges.length; index += 1) {
      const [from = 0, to = 0] = [edges[index], edges[index + 1]];
      const isMatch = spans.some(([begin, end]) => from >= begin && to <= end);
      found.push({ ...part, text: text.slice(from, to), isMatch });
    }
    at += part.text.length;
  }
  return found;
}

function matches(text: string, wanted: string): [number, number][] {
  const found: [number, number][] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    found.push([at, at + wanted.length]);
  }
  return found;
}
