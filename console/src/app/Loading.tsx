import { useQuery } from '@tanstack/react-query';
import { Skeleton, Spin } from 'antd';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { titleOf } from '@/ui/Failure';
import { words as uiWords } from '@/ui/words';
import styles from './shell.module.css';
import { words } from './words';

/** What stands there before it is known who is signed in: that something comes, or why it does not. */
export function Loading() {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const { failureReason, fetchStatus } = useQuery({ ...sessionQuery, enabled: false });
  const isLost = failureReason !== null || fetchStatus === 'paused';
  return (
    <div className={styles.middle} role="status">
      <img src="/favicon.svg" alt="" width={40} height={40} />
      {isLost ? (
        <>
          <strong>{failureReason ? titleOf(failureReason, ui) : ui.errors.unreachable}</strong>
          <span className="quiet">{say.triesAgain}</span>
        </>
      ) : (
        <span className="quiet">{say.loading}</span>
      )}
      <Spin size="small" />
    </div>
  );
}

/** What stands in the place of a page whose code is on its way. */
export function PageLoading() {
  const say = useWords(words);
  return (
    <div role="status" aria-label={say.loading}>
      <Skeleton active paragraph={{ rows: 8 }} />
    </div>
  );
}
