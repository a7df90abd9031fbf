import { useCallback, useEffect, useSyncExternalStore } from 'react';
import { ApiError } from '@/api/client';
import { useLanguage, useWords } from '@/i18n/language';
import type { Language } from '@/i18n/translated';
import { here } from '@/messages/here';
import { type Params, render, type Table } from '@/messages/render';
import { words } from './words';

/** Something that the server says: its English text, and what that was made of. */
export interface Said {
  message: string;
  message_code: string;
  params: Params;
}

// Each table is large, and a reader needs one: it is fetched when the first sentence is told.
const tables: Partial<Record<Language, Table>> = {};
const listeners = new Set<() => void>();

async function load(language: Language): Promise<void> {
  if (tables[language]) return;
  try {
    const found = language === 'zh' ? await import('@/messages/zh') : await import('@/messages/en');
    const sentences = { ...found.sentences, ...here[language] };
    tables[language] = { language, sentences, words: found.words };
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

/** A way to tell what the server says in the reader's language, with times by the reader's clock. */
export function useTold(): (said: Said) => string {
  const { language } = useLanguage();
  const say = useWords(words);
  const table = useSyncExternalStore(subscribe, () => tables[language]);
  useEffect(() => void load(language), [language]);
  return useCallback(
    ({ message, message_code: code, params }) =>
      (code !== 'text' && table && render({ code, params }, table)) || say.told(message),
    [table, say],
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
      if (error.problems.length === 0) return told(error.said);
      return error.problems
        .map((problem) => (problem.path ? place(problem.path, told(problem)) : told(problem)))
        .join(between);
    },
    [told, between, place],
  );
}
