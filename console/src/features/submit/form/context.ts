import { createContext, useContext } from 'react';
import { useLanguage } from '@/i18n/language';
import { boundsOf, type Problem } from '../check';
import { checkWords } from '../checkWords';
import { type Json, type Mapping, type Path, pathText, valueAt } from '../document';
import { helpOf, labelOf, wordKey } from '../fieldWords';
import { STORED_ONLY } from '../layout';
import { SHORT_FIELDS } from '../roles';
import { type Field, fieldAt } from '../schema';

export interface FormState {
  doc: Mapping;
  root: Field;
  problems: ReadonlyMap<string, Problem>;
  /** Whether every field is shown, also those that few need. */
  isProfessional: boolean;
  isDisabled: boolean;
  change: (path: Path, value: Json | undefined) => void;
  replace: (doc: Mapping) => void;
  /** Switch between one task and many; nothing that was typed in either is lost. */
  turn: (wantsMany: boolean) => void;
  /** Say that the document is being replaced, with a way back to what is there now. */
  tellReplaced: (text: string) => void;
  /** Paths of fields that somebody has been to: what is missing there is marked. */
  touched: ReadonlySet<string>;
  touch: (path: string) => void;
}

export const FormContext = createContext<FormState | null>(null);

export function useForm(): FormState {
  const form = useContext(FormContext);
  if (!form) throw new Error('a field stands outside of the form');
  return form;
}

/** Few need it, but here somebody does: all fields are wanted, it has a value, or something is wrong with it. */
export function isWorthShowing(form: FormState, path: Path): boolean {
  if (form.isProfessional || valueAt(form.doc, path) !== undefined) return true;
  return form.problems.has(pathText(path));
}

export const idOf = (path: Path | string) =>
  `field-${(typeof path === 'string' ? path : pathText(path)).replace(/[^\w-]/g, '_')}`;

export interface Bound {
  id: string;
  path: Path;
  field: Field;
  value: Json | undefined;
  label: string;
  help: string;
  bounds: string;
  preset: string;
  isStoredOnly: boolean;
  problem: Problem | undefined;
  isRequired: boolean;
  set: (value: Json | undefined) => void;
  touch: () => void;
}

/** Everything a field needs: its value in the document, what the schema says of it, and what is wrong. */
export function useField(path: Path): Bound | undefined {
  const form = useForm();
  const { language } = useLanguage();
  const field = fieldOf(form.root, path);
  if (!field) return undefined;
  const text = pathText(path);
  const problem = form.problems.get(text);
  const isShown = problem && (!problem.isMissing || form.touched.has(text));
  return {
    id: idOf(path),
    path,
    field,
    value: valueAt(form.doc, path),
    label: labelOf(path, language),
    help: helpOf(path, field.help, language),
    bounds: boundsOf(field, language),
    preset: isTold(field.preset) ? checkWords[language].bounds.preset(String(field.preset)) : '',
    isStoredOnly: STORED_ONLY.has(wordKey(path)),
    problem: isShown ? problem : undefined,
    isRequired: isRequired(form.root, path),
    set: (value) => form.change(path, value),
    touch: () => form.touch(text),
  };
}

/** A role's fields at the top of a document are described best where roles are. */
function fieldOf(root: Field, path: Path): Field | undefined {
  const [first] = path;
  const isShort = typeof first === 'string' && (SHORT_FIELDS as readonly string[]).includes(first);
  return (isShort ? fieldAt(root, ['roles', 0, ...path]) : undefined) ?? fieldAt(root, path);
}

const isTold = (preset: unknown) =>
  typeof preset === 'number' || typeof preset === 'boolean' || (typeof preset === 'string' && preset !== '');

function isRequired(root: Field, path: Path): boolean {
  const parent = fieldAt(root, path.slice(0, -1));
  const name = String(path.at(-1));
  if (path.length === 1 && name === 'command') return true;
  return parent?.kind === 'record' && parent.required.includes(name);
}
