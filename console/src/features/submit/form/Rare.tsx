import { type ReactNode, useState } from 'react';
import { recall, remember } from '@/app/memory';
import { useLanguage, useWords } from '@/i18n/language';
import { type Path, pathText, valueAt } from '../document';
import { labelOf } from '../fieldWords';
import { RARE } from '../layout';
import { words } from '../words';
import { type FormState, useForm } from './context';
import styles from './form.module.css';

const KEY = 'footplate.open';

const opened = () => new Set(recall(KEY)?.split(','));

/** Whether a field stands behind a line to open: few need it, it is empty, and nothing is wrong with it. */
export function isRare(form: FormState, path: Path): boolean {
  const text = pathText(path);
  if (!RARE.has(String(path.at(-1))) || valueAt(form.doc, path) !== undefined) return false;
  return ![...form.problems.keys()].some(
    (one) => one === text || one.startsWith(`${text}.`) || one.startsWith(`${text}[`),
  );
}

interface RareProps {
  /** What it is remembered by. */
  name: string;
  paths: readonly Path[];
  children: ReactNode;
}

/** Fields that few jobs have, behind a line that names them; whether it is open is remembered. */
export function Rare({ name, paths, children }: RareProps) {
  const say = useWords(words);
  const { language } = useLanguage();
  const { isProfessional } = useForm();
  const [isOpen, setOpen] = useState(() => opened().has(name));
  if (!isProfessional || paths.length === 0) return null;
  const turn = (isOpenNow: boolean) => {
    const names = opened();
    if (isOpenNow) names.add(name);
    else names.delete(name);
    remember(KEY, [...names].filter(Boolean).join(','));
    setOpen(isOpenNow);
  };
  return (
    <details className={styles.rare} open={isOpen} onToggle={(event) => turn(event.currentTarget.open)}>
      <summary>{say.rare(paths.map((path) => labelOf(path, language)).join(' · '))}</summary>
      {isOpen && <div className={styles.grid}>{children}</div>}
    </details>
  );
}
