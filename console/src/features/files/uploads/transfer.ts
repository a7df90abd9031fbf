import type { Schemas } from '@/api/client';

export type Phase = 'waiting' | 'sending' | 'paused' | 'done' | 'failed';
export type IfExists = NonNullable<Schemas['NewUpload']['if_exists']>;

/** A file on its way to a storage. */
export interface Transfer {
  id: number;
  storage: string;
  path: string;
  file: File;
  ifExists: IfExists;
  phase: Phase;
  doneBytes: number;
  error?: unknown;
  /** The server's name for an upload in pieces. */
  uploadId?: string;
  /** Whether the connection broke, and it is being tried again. */
  isTrying?: boolean;
}

/** Smaller files go in one request, larger ones in pieces of this size. */
export const PIECE_BYTES = 8 * 1024 ** 2;
const BATCH_FILES = 500;
/** A file of this size or less may go along with others. */
const SMALL_BYTES = 512 * 1024;

export const isSmall = ({ file }: Pick<Transfer, 'file'>) => file.size <= SMALL_BYTES;

/** What a browser knows a file by: the same file, chosen again, goes on where it was. */
export const fingerprintOf = ({ name, size, lastModified }: File) =>
  `browser:${lastModified}:${size}:${name}`.slice(0, 128);

/** What goes in the next request: one file, or many small ones that only replace. */
export function nextLoad(waiting: readonly Transfer[]): Transfer[] {
  const [first] = waiting;
  if (!first) return [];
  const isFit = (one: Transfer) =>
    isSmall(one) && one.ifExists === 'replace' && one.storage === first.storage && !one.error;
  if (!isFit(first)) return [first];
  const load: Transfer[] = [];
  let size = 0;
  for (const one of waiting) {
    if (load.length === BATCH_FILES || size + one.file.size > PIECE_BYTES) break;
    if (!isFit(one)) continue;
    load.push(one);
    size += one.file.size;
  }
  return load;
}

const TAR_BLOCK = 512;

/** How far each file of a tar is once so many bytes of it were sent. */
export function spread(load: readonly Transfer[], sentBytes: number): number[] {
  let left = sentBytes;
  return load.map(({ file }) => {
    left -= TAR_BLOCK;
    const done = Math.max(0, Math.min(file.size, left));
    left -= Math.ceil(file.size / TAR_BLOCK) * TAR_BLOCK;
    return done;
  });
}

export interface Totals {
  nFiles: number;
  nDone: number;
  nFailed: number;
  nPaused: number;
  nActive: number;
  sizeBytes: number;
  doneBytes: number;
}

export function totalsOf(transfers: readonly Transfer[]): Totals {
  const count = (...phases: Phase[]) => transfers.filter(({ phase }) => phases.includes(phase)).length;
  return {
    nFiles: transfers.length,
    nDone: count('done'),
    nFailed: count('failed'),
    nPaused: count('paused'),
    nActive: count('waiting', 'sending'),
    sizeBytes: transfers.reduce((sum, { file }) => sum + file.size, 0),
    doneBytes: transfers.reduce((sum, { doneBytes }) => sum + doneBytes, 0),
  };
}
