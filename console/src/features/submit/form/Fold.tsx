import { RightOutlined } from '@ant-design/icons';
import { type ReactNode, useState } from 'react';
import { type Path, pathText } from '../document';
import { rolePaths } from '../roles';
import { useForm } from './context';
import styles from './form.module.css';

/** So many roles are shown whole; a form of hundreds would answer each key late. */
const MOST_WHOLE = 8;

interface FoldProps {
  title: string;
  detail?: string;
  path: Path;
  children: ReactNode;
}

/** One of many roles: a line to open, unless there are few or something in it is wrong. */
export function Fold({ title, detail, path, children }: FoldProps) {
  const { doc, problems } = useForm();
  const [isOpen, setOpen] = useState(false);
  const text = pathText(path);
  const isBad = [...problems.keys()].some((one) => one === text || one.startsWith(`${text}.`));
  if (rolePaths(doc).length <= MOST_WHOLE) return children;
  return (
    <div className={styles.fold}>
      <button
        type="button"
        className={styles.foldHead}
        aria-expanded={isOpen || isBad}
        onClick={() => setOpen(!isOpen)}
      >
        <RightOutlined aria-hidden rotate={isOpen || isBad ? 90 : 0} />
        <span>{title}</span>
        <span className="quiet">{detail}</span>
      </button>
      {(isOpen || isBad) && children}
    </div>
  );
}
