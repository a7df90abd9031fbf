import { DownloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { download } from '@/api/client';
import { jobFilesQuery, jobQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import { useTell } from '@/ui/useTell';
import { Crumbs } from '../Crumbs';
import styles from '../files.module.css';
import { Listing } from '../Listing';
import { joined, nameOf } from '../paths';
import { PreviewDrawer } from '../preview/PreviewDrawer';
import { isJobPart, type JobPart, jobDownloadPath, jobFile, jobFolderQuery } from '../queries';
import { words } from '../words';

const route = getRouteApi('/shell/files');

/** The files of a job: its output, checkpoints, work folders and code, and what lies in them. */
export function JobBrowser({ job: id }: { job: string }) {
  const say = useWords(words);
  const { path = '' } = route.useSearch();
  const { data: job, error } = useQuery(jobQuery(id));
  const [part, ...rest] = path.split('/');
  const first = [
    { name: say.jobFiles, search: { jobs: true } },
    { name: job?.name ?? id, search: { job: id } },
  ];
  return (
    <Card isFlush>
      <div className={styles.head}>
        <Crumbs first={first} path={path} />
        {job && (
          <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
            {say.toJob}
          </Link>
        )}
      </div>
      {error && !job && (
        <div className={styles.failure}>
          <Failure error={error} />
        </div>
      )}
      {isJobPart(part) ? <Folder job={id} part={part} path={rest.join('/')} /> : <Parts job={id} />}
    </Card>
  );
}

function Parts({ job }: { job: string }) {
  const say = useWords(words);
  const { data, error } = useQuery(jobFilesQuery(job));
  const entries = data?.map((part) => ({
    name: say.parts[part],
    path: part,
    part,
    kind: 'folder',
    size_bytes: 0,
    modified_at: null,
  }));
  return (
    <>
      <Around error={data ? null : error} isLoading={!data && !error} />
      {entries?.length === 0 && <Nothing title={say.noFiles} hint={say.noFilesHint} />}
      {entries && entries.length > 0 && (
        <Listing
          entries={entries}
          searchOf={({ path }) => ({ job, path })}
          menuOf={({ name, part }) => <Fetch name={name} address={jobDownloadPath(job, part, '')} />}
        />
      )}
    </>
  );
}

function Folder({ job, part, path }: { job: string; part: JobPart; path: string }) {
  const say = useWords(words);
  const { file } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error } = useQuery(jobFolderQuery(job, part, path));
  const entries = data?.items.map((one) => ({
    ...one,
    name: nameOf(one.path),
    path: joined(path, one.path),
    is_link: one.kind === 'link',
  }));
  const here = joined(part, path);
  return (
    <>
      <Around error={data ? null : error} isLoading={!data && !error} />
      {entries?.length === 0 && <Nothing title={say.empty} />}
      {entries && entries.length > 0 && (
        <Listing
          entries={entries}
          searchOf={(one) =>
            one.kind === 'folder'
              ? { job, path: joined(part, one.path) }
              : { job, path: here, file: one.name }
          }
          menuOf={(one) =>
            (one.kind === 'file' || one.kind === 'folder') && (
              <Fetch name={one.name} address={jobDownloadPath(job, part, one.path)} />
            )
          }
        />
      )}
      {data?.is_cut && <p className={styles.hint}>{say.cutList}</p>}
      {file && (
        <PreviewDrawer
          source={jobFile(job, part, joined(path, file))}
          onClose={() => void navigate({ search: (now) => ({ ...now, file: undefined }) })}
        />
      )}
    </>
  );
}

function Around({ error, isLoading }: { error: unknown; isLoading: boolean }) {
  if (isLoading) return <Skeleton active className={styles.skeleton} title={false} />;
  if (!error) return null;
  return (
    <div className={styles.failure}>
      <Failure error={error} />
    </div>
  );
}

/** A folder comes as an archive, a file as it is. */
function Fetch({ name, address }: { name: string; address: string }) {
  const say = useWords(words);
  const { failed } = useTell();
  return (
    <Button
      size="small"
      type="text"
      icon={<DownloadOutlined aria-hidden />}
      aria-label={say.downloadOf(name)}
      onClick={() => void download(address).catch(failed)}
    />
  );
}
