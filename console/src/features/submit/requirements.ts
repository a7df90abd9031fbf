import type { Json } from './document';

const FILE = /^[^\s<>=!~;@[\]]+\.(txt|in)$/;

/** What somebody typed: the name of one file, or the requirements, one a line. */
export function readRequirements(text: string): Json | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const [first] = lines;
  if (first === undefined) return undefined;
  return lines.length === 1 && FILE.test(first) ? first : lines;
}

export function requirementsText(value: Json | undefined): string {
  if (Array.isArray(value)) return value.map(String).join('\n');
  return typeof value === 'string' ? value : '';
}
