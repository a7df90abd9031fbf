import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Select, Skeleton } from 'antd';
import { storagesQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { useDescription } from '@/ui/storages';
import { PHONE, useMedia } from '@/ui/useMedia';
import { Browser } from './Browser';
import styles from './files.module.css';
import { JobBrowser } from './jobs/JobBrowser';
import { JobFolders } from './jobs/JobFolders';
import type { Storage } from './queries';
import { TransfersCard } from './uploads/TransfersCard';
import { useUploadsAround } from './uploads/useUploads';
import { WebBrowser } from './WebBrowser';
import { words } from './words';

const route = getRouteApi('/shell/files');
const FIRST = 'home';
/** Not a name that a storage can have. */
const JOBS = ':jobs';

/** What lies on the storages that one may use. */
export function FilesPage() {
  const say = useWords(words);
  const { storage: wanted, job, jobs } = route.useSearch();
  const isOfJobs = job !== undefined || jobs;
  const { data: me } = useQuery(sessionQuery);
  const { data: storages, error } = useQuery(storagesQuery);
  useUploadsAround(me?.name ?? '');
  const name = wanted ?? (storages?.some((one) => one.name === FIRST) ? FIRST : storages?.[0]?.name);
  const storage = storages?.find((one) => one.name === name);
  return (
    <Page title={say.title}>
      {error && !storages && <Failure error={error} />}
      {!storages && !error && <Skeleton active />}
      {storages?.length === 0 && (
        <Card>
          <Nothing title={say.noStorages} hint={say.noStoragesHint} />
        </Card>
      )}
      {storages && storages.length > 0 && (
        <div className={styles.columns}>
          <Storages storages={storages} current={isOfJobs ? JOBS : (name ?? '')} />
          <div className={styles.main}>
            <TransfersCard />
            {job !== undefined && <JobBrowser key={job} job={job} />}
            {job === undefined && jobs && <JobFolders />}
            {!isOfJobs && <Shown storage={storage} name={name ?? ''} />}
          </div>
        </div>
      )}
    </Page>
  );
}

/** One that is not in the list is asked for all the same: the server says why it cannot be shown. */
function Shown({ storage, name }: { storage: Storage | undefined; name: string }) {
  if (storage?.kind === 'http') return <WebBrowser key={name} storage={storage} />;
  return <Browser key={name} name={name} storage={storage} />;
}

interface StoragesProps {
  storages: readonly Storage[];
  current: string;
}

function Storages({ storages, current }: StoragesProps) {
  const say = useWords(words);
  const navigate = route.useNavigate();
  const described = useDescription();
  const isPhone = useMedia(PHONE);
  if (isPhone)
    return (
      <Select
        aria-label={say.storage}
        className={styles.choose}
        value={current}
        options={[
          ...storages.map(({ name }) => ({ value: name, label: name })),
          { value: JOBS, label: say.jobFiles },
        ]}
        onChange={(storage) => void navigate({ search: storage === JOBS ? { jobs: true } : { storage } })}
      />
    );
  return (
    <nav className={styles.storages} aria-label={say.storages}>
      <ul>
        {storages.map((one) => (
          <li key={one.name}>
            <Link to="/files" search={{ storage: one.name }} data-active={one.name === current}>
              <strong>{one.name}</strong>
              <span className="quiet">{described(one.description) || say.kinds[one.kind] || one.kind}</span>
            </Link>
          </li>
        ))}
        <li>
          <Link to="/files" search={{ jobs: true }} data-active={current === JOBS}>
            <strong>{say.jobFiles}</strong>
            <span className="quiet">{say.jobFilesHint}</span>
          </Link>
        </li>
      </ul>
    </nav>
  );
}
