import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import { type Bound, useForm } from './context';
import styles from './form.module.css';

interface EntriesProps {
  bound: Bound;
  onAdd: () => void;
  children: ReactNode;
}

/** A field of several entries, with a button below them for one more. */
export function Entries({ bound, onAdd, children }: EntriesProps) {
  const say = useWords(words);
  const { isDisabled } = useForm();
  return (
    <div
      className={styles.rows}
      role="group"
      aria-labelledby={`${bound.id}-label`}
      id={bound.id}
      tabIndex={-1}
    >
      {children}
      <Button
        className={styles.add}
        size="small"
        aria-label={say.addTo(bound.label)}
        disabled={isDisabled}
        icon={<PlusOutlined aria-hidden />}
        onClick={onAdd}
      >
        {say.add}
      </Button>
    </div>
  );
}

interface RemoveEntryProps {
  /** The entry, as somebody would call it. */
  name: string;
  className?: string;
  onRemove: () => void;
}

export function RemoveEntry({ name, className, onRemove }: RemoveEntryProps) {
  const say = useWords(words);
  const { isDisabled } = useForm();
  return (
    <Button
      type="text"
      disabled={isDisabled}
      className={className}
      icon={<DeleteOutlined aria-hidden />}
      aria-label={say.removeOf(name)}
      onClick={onRemove}
    />
  );
}
