import { Link } from '@tanstack/react-router';
import { Alert, Button } from 'antd';
import { useWords } from '@/i18n/language';
import styles from './submit.module.css';
import { words } from './words';

interface CloneNoteProps {
  original: string;
  /** Whether this is what somebody made of the copy before. */
  isKept: boolean;
  /** Whether a draft waits that has nothing to do with the copy. */
  hasDraft: boolean;
  onCopyAnew: () => void;
}

/** What the form was filled with, and the ways to what it might have been filled with instead. */
export function CloneNote({ original, isKept, hasDraft, onCopyAnew }: CloneNoteProps) {
  const say = useWords(words);
  return (
    <Alert
      className={styles.note}
      type="info"
      showIcon
      title={isKept ? say.cloneKept(original) : say.cloneOf(original)}
      description={hasDraft && <Link to="/submit">{say.toOwnDraft}</Link>}
      action={
        isKept && (
          <Button size="small" onClick={onCopyAnew}>
            {say.copyAnew}
          </Button>
        )
      }
    />
  );
}
