import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { ApiError } from '@/api/client';
import { useLanguage, useWords } from '@/i18n/language';
import { words } from './words';

type Translate = (message: string) => string | undefined;

// The table is large and only Chinese readers need it: it is fetched when the first of them comes.
let zhOf: Translate | undefined;
const listeners = new Set<() => void>();

async function load(): Promise<void> {
  if (zhOf) return;
  try {
    zhOf = (await import('./zhMessages')).zhOf;
  } catch {
    // The server's own words are shown instead; the next page tries again.
    return;
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** A way to put what the server says into the reader's language. */
export function useTold(): (message: string) => string {
  const { language } = useLanguage();
  const say = useWords(words);
  const translate = useSyncExternalStore(subscribe, () => zhOf);
  useEffect(() => {
    if (language === 'zh') void load();
  }, [language]);
  return useCallback(
    (message) => (language === 'zh' && translate?.(message)) || say.told(message),
    [language, translate, say],
  );
}

/** A way to tell an error's particulars, beside the title that its code has. */
export function useDetail(): (error: unknown) => string {
  const told = useTold();
  const { between, place } = useWords(words);
  return useCallback(
    (error) => {
      if (!(error instanceof ApiError)) return error instanceof Error ? error.message : String(error);
      if (error.status === 0) return '';
      if (error.problems.length === 0) return told(error.message);
      return error.problems
        .map(({ path, message }) => (path ? place(path, told(message)) : told(message)))
        .join(between);
    },
    [told, between, place],
  );
}
