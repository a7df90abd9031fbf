import { LeftOutlined, RightOutlined, VerticalRightOutlined } from '@ant-design/icons';
import { useRouter } from '@tanstack/react-router';
import { Button } from 'antd';
import { useWords } from '@/i18n/language';
import styles from './page.module.css';
import { words } from './words';

interface PagesProps {
  /** Where this page begins; absent on the first. */
  after: string | undefined;
  /** Where the next one begins. */
  next: string | null;
  onGo: (after: string | undefined) => void;
}

/** Pages by key: as quick deep in a million rows as on the first; the way back is the browser's. */
export function Pages({ after, next, onGo }: PagesProps) {
  const say = useWords(words);
  const router = useRouter();
  if (!after && !next) return null;
  return (
    <nav className={styles.pages} aria-label={say.pages}>
      <Button disabled={!after} icon={<VerticalRightOutlined aria-hidden />} onClick={() => onGo(undefined)}>
        {say.first}
      </Button>
      <Button
        disabled={!after || !router.history.canGoBack()}
        icon={<LeftOutlined aria-hidden />}
        onClick={() => router.history.back()}
      >
        {say.previous}
      </Button>
      <Button
        disabled={!next}
        icon={<RightOutlined aria-hidden />}
        iconPlacement="end"
        onClick={() => onGo(next ?? undefined)}
      >
        {say.next}
      </Button>
    </nav>
  );
}
