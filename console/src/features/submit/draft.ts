import { useCallback, useEffect, useMemo, useReducer } from 'react';
import { isSame, type Json, type Mapping, type Path, withValue } from './document';
import { asMany, asSingle, isDistributed } from './roles';
import type { Field } from './schema';
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
  /** Whether somebody has typed or chosen anything. */
  isEdited: boolean;
  /** The job of many tasks that a single one was made of: it comes back with the switch. */
  many?: { doc: Mapping; text: string | null };
  /** The job that this begins as a copy of. */
  original?: string;
  /** The job file of another system that this was made from. */
  foreign?: string;
}

type Change =
  | { kind: 'field'; path: Path; value: Json | undefined }
  | { kind: 'document'; doc: Mapping }
  | { kind: 'file'; doc: Mapping; text: string; format: Format; foreign?: string }
  | { kind: 'tasks'; wantsMany: boolean }
  | { kind: 'draft'; draft: Draft }
  | { kind: 'typed'; text: string }
  | { kind: 'format'; format: Format }
  | { kind: 'write' }
  | { kind: 'forget text' };

export function changeDraft(order: readonly string[], tools: TextTools | undefined, root?: Field) {
  const write = (doc: Mapping, format: Format) => tools?.writeText(doc, format, order) ?? null;
  const written = (draft: Draft, doc: Mapping, text?: string): Draft => ({
    ...draft,
    doc,
    text: text ?? write(doc, draft.format),
    fault: null,
    isEdited: true,
  });
  const withText = (draft: Draft): Draft =>
    draft.text === null ? { ...draft, text: write(draft.doc, draft.format) } : draft;
  const turned = (draft: Draft, wantsMany: boolean): Draft => {
    const { doc, text, many } = draft;
    if (wantsMany === isDistributed(doc) || draft.fault) return draft;
    if (!wantsMany) return { ...written(draft, asSingle(doc)), many: { doc, text } };
    const isUntouched = many && isSame(doc, asSingle(many.doc));
    // As it was typed, comments included, unless something has been changed since.
    const before = isUntouched && many.text !== null && draft.format === 'yaml' ? many.text : undefined;
    return { ...written(draft, asMany(doc, many?.doc), before), many: undefined };
  };
  return (draft: Draft, change: Change): Draft => {
    switch (change.kind) {
      case 'field': {
        const doc = (withValue(draft.doc, change.path, change.value) ?? {}) as Mapping;
        if (isSame(doc, draft.doc)) return draft;
        if (draft.format !== 'yaml' || draft.text === null) return written(draft, doc);
        return written(draft, doc, tools?.patchText(draft.text, change.path, change.value, doc, root));
      }
      case 'document':
        return { ...written(draft, change.doc), many: undefined, foreign: undefined };
      case 'file': {
        const { doc, text, format, foreign } = change;
        return { ...draft, doc, text, format, foreign, fault: null, isEdited: true, many: undefined };
      }
      case 'tasks':
        return turned(draft, change.wantsMany);
      case 'draft':
        return withText(change.draft);
      case 'typed': {
        if (change.text === draft.text || !tools) return draft;
        const { doc, fault } = tools.readText(change.text, draft.format, root);
        return { ...draft, text: change.text, doc: doc ?? draft.doc, fault: fault ?? null, isEdited: true };
      }
      case 'format':
        if (change.format === draft.format || draft.fault) return draft;
        return { ...draft, format: change.format, text: write(draft.doc, change.format) };
      case 'write':
        return withText(draft);
      case 'forget text':
        return written(draft, draft.doc);
    }
  };
}

const KEY = 'footplate.draft';

/** Whose draft, and of which copy: each copy of a job has a draft of its own beside the one that began empty. */
export interface DraftPlace {
  user: string;
  clone?: string;
  /** What else it began with, such as files to use. */
  seed?: string;
}

const keyOf = ({ user, clone, seed }: DraftPlace) =>
  [`${KEY}.${user}`, clone ?? seed].filter(Boolean).join('/');

/** What was typed before in this tab by the same person; the tab's own storage ends with the tab. */
export function keptDraft(place: DraftPlace): Draft | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(keyOf(place)) ?? 'null');
    const isWhole = kept?.doc && (kept.text === null || typeof kept.text === 'string');
    return isWhole ? (kept as Draft) : undefined;
  } catch {
    return undefined;
  }
}

export function keepDraft(place: DraftPlace, draft: Draft): void {
  try {
    sessionStorage.setItem(keyOf(place), JSON.stringify(draft));
  } catch {
    // Storage is full or switched off: the draft lives as long as the page.
  }
}

export function dropDraft(place: DraftPlace): void {
  try {
    sessionStorage.removeItem(keyOf(place));
  } catch {
    // Nothing was kept.
  }
}

export function newDraft(doc: Mapping, original?: string): Draft {
  return { doc, text: null, format: 'yaml', fault: null, isEdited: false, original };
}

/** The draft of a person, and all ways to change it. */
export function useDraft(
  { user, clone, seed }: DraftPlace,
  first: Draft,
  order: readonly string[],
  tools: TextTools | undefined,
  root: Field,
) {
  const reducer = useMemo(() => changeDraft(order, tools, root), [order, tools, root]);
  const [draft, dispatch] = useReducer(reducer, first);
  useEffect(() => {
    if (tools) dispatch({ kind: 'write' });
  }, [tools]);
  useEffect(() => {
    if (draft.isEdited) keepDraft({ user, clone, seed }, draft);
  }, [user, clone, seed, draft]);
  const change = useCallback(
    (path: Path, value: Json | undefined) => dispatch({ kind: 'field', path, value }),
    [],
  );
  const replace = useCallback((doc: Mapping) => dispatch({ kind: 'document', doc }), []);
  const take = useCallback(
    (doc: Mapping, text: string, format: Format, foreign?: string) =>
      dispatch({ kind: 'file', doc, text, format, foreign }),
    [],
  );
  const turn = useCallback((wantsMany: boolean) => dispatch({ kind: 'tasks', wantsMany }), []);
  const restore = useCallback((draft: Draft) => dispatch({ kind: 'draft', draft }), []);
  const type = useCallback((text: string) => dispatch({ kind: 'typed', text }), []);
  const setFormat = useCallback((format: Format) => dispatch({ kind: 'format', format }), []);
  const forgetText = useCallback(() => dispatch({ kind: 'forget text' }), []);
  return { draft, change, replace, take, turn, restore, type, setFormat, forgetText };
}
