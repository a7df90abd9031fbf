import type { ErrorComponentProps } from '@tanstack/react-router';
import { useRouter } from '@tanstack/react-router';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import styles from './shell.module.css';
import { words } from './words';

/** What a page becomes when it cannot be shown. */
export function Oops({ error, reset }: ErrorComponentProps) {
  const say = useWords(words);
  const router = useRouter();
  const again = () => {
    reset();
    void router.invalidate();
  };
  return (
    <div className={styles.middle}>
      <h1>{say.oops}</h1>
      <Failure error={error} onRetry={again} />
    </div>
  );
}
