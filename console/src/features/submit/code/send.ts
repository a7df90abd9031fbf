import { bytes } from '@/ui/amounts';
import type { Given } from '@/ui/dropped';
import type { words } from '../words';
import { type Chosen, choose } from './choose';
import { tarGz } from './tar';
import { upload } from './upload';

const MOST_BYTES = 200 * 1024 ** 2;
const MOST_FILES = 100_000;

/** How far an upload is. */
export type Progress =
  | { step: 'reading' }
  | { step: 'packing'; n: number; total: number }
  | { step: 'sending'; share: number };

export interface Sent {
  label: string;
  digest: string;
  sizeBytes: number;
  leftOut: string[];
}

type Words = (typeof words)['en'];
type Show = (label: string, progress: Progress) => void;

/** Pack what was chosen and send it, and say all the while how far that is. */
export async function send(
  given: Promise<Given[]>,
  say: Words,
  show: Show,
  signal: AbortSignal,
): Promise<Sent> {
  const chosen = await choose(await given);
  const { label, sizeBytes, leftOut } = chosen;
  refuseUnsendable(chosen, say);
  const archive = await packed(chosen, show);
  signal.throwIfAborted();
  const sent = await upload(archive, (share) => show(label, { step: 'sending', share }), signal);
  signal.throwIfAborted();
  return { label, digest: sent.upload, sizeBytes, leftOut };
}

function refuseUnsendable({ archive, files, sizeBytes }: Chosen, say: Words): void {
  if (!archive && files.length === 0) throw new Error(say.codeNothing);
  if (sizeBytes > MOST_BYTES) throw new Error(say.codeTooLarge(bytes(sizeBytes), bytes(MOST_BYTES)));
  if (files.length > MOST_FILES) throw new Error(say.codeTooMany(files.length, MOST_FILES));
}

async function packed({ label, archive, files }: Chosen, show: Show): Promise<Blob> {
  if (archive) return archive;
  const total = files.length;
  let shownAt = 0;
  return tarGz(files, (n) => {
    // Thousands of small files would otherwise draw thousands of times.
    if (n < total && Date.now() - shownAt < 100) return;
    shownAt = Date.now();
    show(label, { step: 'packing', n, total });
  });
}
