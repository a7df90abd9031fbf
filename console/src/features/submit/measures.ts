/** Sizes and durations as job files write them. */
const SIZE = /^\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT])(?:i?B|i)?\s*$/i;
const FACTORS: Record<string, number> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };
const SPAN = /^(?:(\d{1,6})d)?(?:(\d{1,8})h)?(?:(\d{1,9})m(?:in)?)?(?:(\d{1,10})s)?$/;
const SECONDS = [86_400, 3600, 60, 1] as const;
const SPAN_UNITS = ['d', 'h', 'm', 's'] as const;
export const SIZE_UNITS = ['MB', 'GB', 'TB'] as const;

/** A size in bytes; undefined when the text is none. */
export function bytesOf(text: string): number | undefined {
  const found = SIZE.exec(text);
  return found ? Number(found[1]) * (FACTORS[found[2]?.toUpperCase() ?? ''] ?? 1) : undefined;
}

/** A size as a number and a unit, for two boxes; undefined when it has another form. */
export function splitSize(value: unknown): { amount: string; unit: string } | undefined {
  if (typeof value !== 'string') return undefined;
  const found = /^\s*(.*?)\s*([KMGT])(?:i?B|i)?\s*$/i.exec(value);
  return found ? { amount: found[1] ?? '', unit: `${found[2]?.toUpperCase()}B` } : undefined;
}

/** A size as the document has it: a number in the unit of the box beside it, unless it brings its own. */
export function sizeText(typed: string, unit: string): string | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const own = splitSize(text);
  if (own) return `${own.amount}${own.unit}`;
  return /[a-z]$/i.test(text) ? text : `${text}${unit}`;
}

export function showSize(bytes: number): string {
  for (const unit of ['T', 'G', 'M', 'K']) {
    const factor = FACTORS[unit] ?? 1;
    if (bytes >= factor) return `${Number((bytes / factor).toFixed(2))}${unit}B`;
  }
  return `${bytes}B`;
}

/** A duration in seconds; undefined when the text is none. */
export function secondsOf(text: string): number | undefined {
  const found = SPAN.exec(text.replace(/\s+/g, ''));
  if (!found || text.trim() === '') return undefined;
  return SECONDS.reduce((sum, size, index) => sum + size * Number(found[index + 1] ?? 0), 0);
}

export function showSpan(seconds: number): string {
  let rest = seconds;
  let text = '';
  SECONDS.forEach((size, index) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count) text += `${count}${SPAN_UNITS[index]}`;
  });
  return text || '0s';
}
