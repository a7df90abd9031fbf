import { textOf } from '@/app/search';

/** A path of our own; an address elsewhere is nothing to lead people to. */
export function ownPath(value: unknown): string | undefined {
  const path = textOf(value);
  return path && /^\/(?![/\\])/.test(path) ? path : undefined;
}
