import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Button, Select, Skeleton } from 'antd';
import type { Schemas } from '@/api/client';
import { auditQuery, usersQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { moment } from '@/messages/formats';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { relative } from '@/ui/time';
import { words as uiWords } from '@/ui/words';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';

type Entry = Schemas['AuditBody'];

const route = getRouteApi('/shell/admin/audit');

export function AuditPage() {
  const say = useWords(words).audit;
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title} actions={<ActorFilter />}>
        <p className={styles.intro}>{say.intro}</p>
        <Trail />
      </Page>
    </AdminOnly>
  );
}

function ActorFilter() {
  const say = useWords(words).audit;
  const navigate = useNavigate();
  const { actor } = route.useSearch();
  const { data: me } = useQuery(sessionQuery);
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: me?.is_admin === true });
  const names = new Set([...users.map(({ name }) => name), ...(actor ? [actor] : [])]);
  return (
    <Select
      className={styles.filter}
      showSearch
      aria-label={say.actorFilter}
      value={actor ?? ''}
      options={[{ value: '', label: say.everybody }, ...[...names].map((value) => ({ value, label: value }))]}
      onChange={(value: string) =>
        void navigate({ to: '/admin/audit', search: { actor: value || undefined }, replace: true })
      }
    />
  );
}

function Trail() {
  const say = useWords(words).audit;
  const { actor } = route.useSearch();
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    auditQuery(actor ?? ''),
  );
  if (error && !data) return <Failure error={error} />;
  const entries = data?.pages.flat();
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
    { key: 'subject', title: say.subject, cell: ({ subject }) => <strong>{subject}</strong> },
    { key: 'detail', title: say.detail, isWide: true, cell: ({ detail }) => <Detail detail={detail} /> },
    { key: 'actor', title: say.actor, cell: ({ actor: who }) => who },
    { key: 'at', title: say.at, cell: ({ at }) => <Moment at={at} /> },
  ];
  return (
    <Card isFlush>
      {!entries && <Skeleton active className={styles.skeleton} title={false} />}
      {entries?.length === 0 && <Nothing title={say.none} hint={say.noneHint} />}
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

function Detail({ detail }: { detail: Entry['detail'] }) {
  const { details } = useWords(words).audit;
  const { place } = useWords(uiWords);
  // Names that people gave are told as they are.
  const told = (value: unknown) => details[String(value)] ?? String(value);
  const parts = Object.entries(detail).filter(([, value]) => value !== '' && value !== null);
  const text = parts
    .map(([name, value]) => {
      const isOurs = name !== 'queue' && name !== 'reference';
      const shown = Array.isArray(value) ? value.map(told).join(', ') : isOurs ? told(value) : String(value);
      return place(details[name] ?? name, shown);
    })
    .join(' · ');
  return <span className={styles.detail}>{text || '–'}</span>;
}
