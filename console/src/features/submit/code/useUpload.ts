import { useRef, useState } from 'react';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { words } from '../words';
import { type Chosen, choose, type Given } from './choose';
import { tarGz } from './tar';
import { upload } from './upload';

const MOST_BYTES = 200 * 1024 ** 2;
const MOST_FILES = 100_000;

export type UploadState =
  | { kind: 'idle' }
  | { kind: 'busy'; label: string; text: string; share: number }
  | { kind: 'done'; label: string; digest: string; sizeBytes: number }
  | { kind: 'failed'; error: unknown };

type Words = (typeof words)['en'];

/** Pack what was chosen, send it, and say all the while how far that is. */
export function useUpload(onDone: (digest: string) => void) {
  const say = useWords(words);
  const [state, setState] = useState<UploadState>({ kind: 'idle' });
  const running = useRef<AbortController>(null);

  const send = async (given: Promise<Given[]>) => {
    running.current?.abort();
    const aborter = new AbortController();
    running.current = aborter;
    try {
      const chosen = await choose(await given);
      const { label, sizeBytes } = chosen;
      refuseUnsendable(chosen, say);
      const show = (text: string, share: number) => {
        if (!aborter.signal.aborted) setState({ kind: 'busy', label, text, share });
      };
      const archive = await packed(chosen, say, show);
      aborter.signal.throwIfAborted();
      const sent = await upload(archive, (share) => show(sending(share, say), share), aborter.signal);
      setState({ kind: 'done', label, digest: sent.upload, sizeBytes });
      onDone(sent.upload);
    } catch (error) {
      if (!aborter.signal.aborted) setState({ kind: 'failed', error });
    }
  };
  const stop = () => {
    running.current?.abort();
    setState({ kind: 'idle' });
  };
  return { state, send, stop, forget: () => setState({ kind: 'idle' }) };
}

function refuseUnsendable({ archive, files, sizeBytes }: Chosen, say: Words): void {
  if (!archive && files.length === 0) throw new Error(say.codeNothing);
  if (sizeBytes > MOST_BYTES) throw new Error(say.codeTooLarge(bytes(sizeBytes), bytes(MOST_BYTES)));
  if (files.length > MOST_FILES) throw new Error(say.codeTooMany(files.length, MOST_FILES));
}

async function packed(
  chosen: Chosen,
  say: Words,
  show: (text: string, share: number) => void,
): Promise<Blob> {
  if (chosen.archive) return chosen.archive;
  const total = chosen.files.length;
  let shownAt = 0;
  return tarGz(chosen.files, (n) => {
    // Thousands of small files would otherwise draw thousands of times.
    if (n < total && Date.now() - shownAt < 100) return;
    shownAt = Date.now();
    show(say.packing(n, total), 0);
  });
}

const sending = (share: number, say: Words) =>
  share < 1 ? say.uploading(`${Math.round(share * 100)} %`) : say.checkingCode;
