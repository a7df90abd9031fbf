import { createContext, useContext, useEffect, useRef, useState } from 'react';
import { useWords } from '@/i18n/language';
import type { Given } from '@/ui/dropped';
import { words } from '../words';

import type { Progress, Sent } from './send';

export type UploadState =
  | { kind: 'idle' }
  | { kind: 'busy'; label: string; progress: Progress }
  | ({ kind: 'done' } & Sent)
  | { kind: 'failed'; error: unknown };

export interface Upload {
  state: UploadState;
  send: (given: Promise<Given[]>) => void;
  /** Give up what is under way, and forget what came of the last. */
  stop: () => void;
}

/** The upload of a draft: it goes on whichever part of the form is looked at, and ends with the draft. */
export function useUpload(onDone: (digest: string) => void): Upload {
  const say = useWords(words);
  const [state, setState] = useState<UploadState>({ kind: 'idle' });
  const running = useRef<AbortController>(null);
  useEffect(() => () => running.current?.abort(), []);

  const send = async (given: Promise<Given[]>) => {
    running.current?.abort();
    const aborter = new AbortController();
    running.current = aborter;
    const set = (next: UploadState) => {
      if (!aborter.signal.aborted) setState(next);
    };
    set({ kind: 'busy', label: '', progress: { step: 'reading' } });
    try {
      // What packs is large, and few jobs need it: it comes with the first code.
      const tools = await import('./send');
      const show = (label: string, progress: Progress) => set({ kind: 'busy', label, progress });
      const sent = await tools.send(given, say, show, aborter.signal);
      aborter.signal.throwIfAborted();
      onDone(sent.digest);
      set({ kind: 'done', ...sent });
    } catch (error) {
      set({ kind: 'failed', error });
    }
  };
  const stop = () => {
    running.current?.abort();
    setState({ kind: 'idle' });
  };
  return { state, send: (given) => void send(given), stop };
}

export const UploadContext = createContext<Upload | null>(null);

export function useCodeUpload(): Upload {
  const upload = useContext(UploadContext);
  if (!upload) throw new Error('the code stands outside of the form');
  return upload;
}

type Words = (typeof words)['en'];

export function progressText(progress: Progress, say: Words): string {
  switch (progress.step) {
    case 'reading':
      return say.readingCode;
    case 'packing':
      return say.packing(progress.n, progress.total);
    case 'sending':
      return progress.share < 1 ? say.uploading(percent(progress)) : say.checkingCode;
  }
}

/** Why a job cannot be submitted yet. */
export function waitText(progress: Progress, say: Words): string {
  return progress.step === 'sending' ? say.waitsForUpload(percent(progress)) : say.waitsForCode;
}

export const shareOf = (progress: Progress) => (progress.step === 'sending' ? progress.share : 0);
const percent = (progress: Progress) => `${Math.round(shareOf(progress) * 100)} %`;
