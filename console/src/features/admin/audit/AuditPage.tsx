import { DownloadOutlined } from '@ant-design/icons';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { download, type Schemas } from '@/api/client';
import { auditQuery } from '@/api/platformQueries';
import { useLanguage, useWords } from '@/i18n/language';
import { moment } from '@/messages/formats';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { relative } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { Detail } from './Detail';
import { Filters } from './Filters';
import { auditFilter } from './search';
import { words } from './words';

type Entry = Schemas['AuditBody'];

const route = getRouteApi('/shell/admin/audit');

export function AuditPage() {
  const say = useWords(words);
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title} actions={<Export />}>
        <p className={styles.intro}>{say.intro}</p>
        <Filters />
        <Trail />
      </Page>
    </AdminOnly>
  );
}

/** What the filters leave, as a table for other programs. */
function Export() {
  const say = useWords(words);
  const { failed } = useTell();
  const filter = auditFilter(route.useSearch());
  const given = Object.entries(filter).filter((one): one is [string, string] => Boolean(one[1]));
  const query = new URLSearchParams(given);
  return (
    <Button
      icon={<DownloadOutlined aria-hidden />}
      onClick={() => void download(`/api/v1/audit/export?${query}`).catch(failed)}
    >
      {say.export}
    </Button>
  );
}

function Trail() {
  const say = useWords(words);
  const search = route.useSearch();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditQuery(auditFilter(search)),
  );
  if (error && !data) return <Failure error={error} />;
  const entries = data?.pages.flat();
  const isFiltered = Object.values(search).some(Boolean);
  const columns: Column<Entry>[] = [
    {
      key: 'action',
      title: say.action,
      cell: ({ action }) => (
        <span className={styles.tag} data-tone="accent" title={action}>
          {say.actions[action] ?? action}
        </span>
      ),
    },
    { key: 'subject', title: say.subject, cell: (record) => <Subject record={record} /> },
    { key: 'detail', title: say.detail, isWide: true, cell: ({ detail }) => <Detail detail={detail} /> },
    { key: 'actor', title: say.actor, cell: ({ actor: who }) => who },
    { key: 'at', title: say.at, cell: ({ at }) => <Moment at={at} /> },
  ];
  return (
    <Card isFlush>
      {!entries && <Skeleton active className={styles.skeleton} title={false} />}
      {entries?.length === 0 &&
        (isFiltered ? <Nothing title={say.noneMatch} /> : <Nothing title={say.none} hint={say.noneHint} />)}
      {entries && entries.length > 0 && (
        <DataTable label={say.title} columns={columns} rows={entries} rowKey={({ seq }) => seq} />
      )}
      {hasNextPage && (
        <div className={styles.more}>
          <Button loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {say.more}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** What it was done to; a job goes by its name here, and leads to its page. */
function Subject({ record: { action, subject, detail } }: { record: Entry }) {
  if (!action.startsWith('job.')) return <strong>{subject}</strong>;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: subject }} title={subject}>
      {typeof detail.name === 'string' ? detail.name : subject}
    </Link>
  );
}

/** Whoever looks into a trail wants to know when exactly. */
function Moment({ at }: { at: string }) {
  const { language } = useLanguage();
  return (
    <time
      dateTime={at}
      className={styles.moment}
      title={relative((Date.parse(at) - Date.now()) / 1000, language)}
    >
      {moment(at)}
    </time>
  );
}
