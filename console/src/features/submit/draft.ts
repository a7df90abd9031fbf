import { useCallback, useEffect, useMemo, useReducer } from 'react';
import { isSame, type Json, type Mapping, type Path, withValue } from './document';
import type { Format, TextFault } from './text';

/** What reads and writes job files; it is large, and comes after the form. */
export type TextTools = typeof import('./text');

/** The one document that form and text are two views of, and the text as it was typed. */
export interface Draft {
  doc: Mapping;
  /** Null until what writes it has come. */
  text: string | null;
  format: Format;
  /** Why the text is no document now; the form then shows the last one that was. */
  fault: TextFault | null;
}

type Change =
  | { kind: 'field'; path: Path; value: Json | undefined }
  | { kind: 'document'; doc: Mapping }
  | { kind: 'typed'; text: string }
  | { kind: 'format'; format: Format }
  | { kind: 'write' }
  | { kind: 'forget text' };

export function changeDraft(order: readonly string[], tools: TextTools | undefined) {
  const write = (doc: Mapping, format: Format) => tools?.writeText(doc, format, order) ?? null;
  const written = (draft: Draft, doc: Mapping, text?: string): Draft => ({
    ...draft,
    doc,
    text: text ?? write(doc, draft.format),
    fault: null,
  });
  return (draft: Draft, change: Change): Draft => {
    switch (change.kind) {
      case 'field': {
        const doc = (withValue(draft.doc, change.path, change.value) ?? {}) as Mapping;
        if (isSame(doc, draft.doc)) return draft;
        if (draft.format !== 'yaml' || draft.text === null) return written(draft, doc);
        return written(draft, doc, tools?.patchText(draft.text, change.path, change.value, doc));
      }
      case 'document':
        return written(draft, change.doc);
      case 'typed': {
        if (change.text === draft.text || !tools) return draft;
        const { doc, fault } = tools.readText(change.text, draft.format);
        return { ...draft, text: change.text, doc: doc ?? draft.doc, fault: fault ?? null };
      }
      case 'format':
        if (change.format === draft.format || draft.fault) return draft;
        return { ...draft, format: change.format, text: write(draft.doc, change.format) };
      case 'write':
        return draft.text === null ? written(draft, draft.doc) : draft;
      case 'forget text':
        return written(draft, draft.doc);
    }
  };
}

const KEY = 'footplate.draft';

/** What was typed before in this tab by the same person; the tab's own storage ends with the tab. */
export function keptDraft(user: string): Draft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(`${KEY}.${user}`) ?? 'null');
    const isWhole = kept?.doc && (kept.text === null || typeof kept.text === 'string');
    return isWhole ? (kept as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(user: string, draft: Draft | undefined): void {
  try {
    if (draft) sessionStorage.setItem(`${KEY}.${user}`, JSON.stringify(draft));
    else sessionStorage.removeItem(`${KEY}.${user}`);
  } catch {
    // Storage is full or switched off: the draft lives as long as the page.
  }
}

export function newDraft(doc: Mapping): Draft {
  return { doc, text: null, format: 'yaml', fault: null };
}

/** The draft of a person, and all ways to change it. */
export function useDraft(user: string, first: Draft, order: readonly string[], tools: TextTools | undefined) {
  const reducer = useMemo(() => changeDraft(order, tools), [order, tools]);
  const [draft, dispatch] = useReducer(reducer, first);
  useEffect(() => {
    if (tools) dispatch({ kind: 'write' });
  }, [tools]);
  useEffect(() => keepDraft(user, draft), [user, draft]);
  const change = useCallback(
    (path: Path, value: Json | undefined) => dispatch({ kind: 'field', path, value }),
    [],
  );
  const replace = useCallback((doc: Mapping) => dispatch({ kind: 'document', doc }), []);
  const type = useCallback((text: string) => dispatch({ kind: 'typed', text }), []);
  const setFormat = useCallback((format: Format) => dispatch({ kind: 'format', format }), []);
  const forgetText = useCallback(() => dispatch({ kind: 'forget text' }), []);
  return { draft, change, replace, type, setFormat, forgetText };
}
