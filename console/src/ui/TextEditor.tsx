import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { yaml } from '@codemirror/lang-yaml';
import {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  syntaxHighlighting,
} from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { Annotation, Compartment, EditorState, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import styles from './texteditor.module.css';

interface TextEditorProps {
  value: string;
  language: 'yaml' | 'json';
  label: string;
  /** A line to mark as wrong, counted from 1. */
  badLine?: number;
  isReadOnly?: boolean;
  onChange?: (value: string) => void;
}

const fromOutside = Annotation.define<boolean>();
const markLine = StateEffect.define<number | undefined>();

const markedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(markLine)) continue;
      const { doc } = transaction.state;
      const number = effect.value;
      const isThere = number !== undefined && number >= 1 && number <= doc.lines;
      next = isThere
        ? Decoration.set([Decoration.line({ class: styles.badLine }).range(doc.line(number).from)])
        : Decoration.none;
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const highlight = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--code-name)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.keyword], color: 'var(--code-value)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--text-3)', fontStyle: 'italic' },
]);

const languageOf = (name: TextEditorProps['language']) => (name === 'json' ? json() : yaml());

/** An editor for YAML and JSON. Tab leaves it, as it leaves any other field. */
export function TextEditor({
  value,
  language,
  label,
  badLine,
  isReadOnly = false,
  onChange,
}: TextEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const listener = useRef(onChange);
  const parts = useRef({ language: new Compartment(), label: new Compartment() });
  const first = useRef({ value, language, label, isReadOnly });
  useEffect(() => {
    listener.current = onChange;
  }, [onChange]);

  useEffect(() => {
    const { value, language, label, isReadOnly } = first.current;
    const editor = new EditorView({
      parent: place.current ?? undefined,
      state: EditorState.create({
        doc: value,
        extensions: [
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          bracketMatching(),
          highlightSelectionMatches(),
          EditorState.tabSize.of(2),
          EditorState.readOnly.of(isReadOnly),
          EditorView.lineWrapping,
          keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
          syntaxHighlighting(highlight),
          markedLine,
          parts.current.language.of(languageOf(language)),
          parts.current.label.of(EditorView.contentAttributes.of({ 'aria-label': label })),
          EditorView.updateListener.of((update) => {
            const isOurs = update.transactions.some((one) => one.annotation(fromOutside));
            if (update.docChanged && !isOurs) listener.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    const changes = { from: 0, to: editor.state.doc.length, insert: value };
    editor.dispatch({ changes, annotations: fromOutside.of(true) });
  }, [value]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.current.language.reconfigure(languageOf(language)) });
  }, [language]);
  useEffect(() => {
    const attributes = EditorView.contentAttributes.of({ 'aria-label': label });
    view.current?.dispatch({ effects: parts.current.label.reconfigure(attributes) });
  }, [label]);
  useEffect(() => {
    view.current?.dispatch({ effects: markLine.of(badLine) });
  }, [badLine]);
  return <div ref={place} className={styles.editor} />;
}
