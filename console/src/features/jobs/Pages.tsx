import { LeftOutlined, RightOutlined, VerticalRightOutlined } from '@ant-design/icons';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { Button } from 'antd';
import { useWords } from '@/i18n/language';
import styles from './jobs.module.css';
import { words } from './words';

const route = getRouteApi('/shell/jobs');

/** Pages by key: as quick deep in a million jobs as on the first; the way back is the browser's. */
export function Pages({ next }: { next: string | null }) {
  const say = useWords(words);
  const router = useRouter();
  const { after } = route.useSearch();
  const navigate = route.useNavigate();
  if (!after && !next) return null;
  const go = (token: string | undefined) => void navigate({ search: (now) => ({ ...now, after: token }) });
  return (
    <nav className={styles.pages} aria-label={say.pages}>
      <Button disabled={!after} icon={<VerticalRightOutlined aria-hidden />} onClick={() => go(undefined)}>
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
        onClick={() => go(next ?? undefined)}
      >
        {say.next}
      </Button>
    </nav>
  );
}
