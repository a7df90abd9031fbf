import type { ErrorComponentProps } from '@tanstack/react-router';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ApiError } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { isReachable } from './renewed';
import styles from './shell.module.css';
import { words } from './words';

/** What a page becomes when it cannot be shown. */
export function Oops({ error, reset }: ErrorComponentProps) {
  const say = useWords(words);
  const router = useRouter();
  useComeBack(isUnreachable(error));
  const again = async () => {
    // Code that did not come, comes only with the page; and that only from a server that answers.
    if (isUnreachable(error)) {
      if (await isReachable()) location.reload();
      return;
    }
    reset();
    void router.invalidate();
  };
  return (
    <div className={styles.middle}>
      <h1>{say.oops}</h1>
      <Failure error={error} onRetry={() => void again()} />
    </div>
  );
}

const ASK_EVERY_MS = 3000;

/** Load the page once the server answers again: nobody has to watch for that. */
function useComeBack(isAway: boolean): void {
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(async () => {
      if (await isReachable()) location.reload();
    }, ASK_EVERY_MS);
    return () => clearInterval(timer);
  }, [isAway]);
}

const isUnreachable = (error: unknown) => error instanceof ApiError && error.status === 0;
