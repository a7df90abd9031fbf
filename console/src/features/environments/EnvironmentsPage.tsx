import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { environmentsQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { useJobNames } from '@/ui/jobNames';
import { Card, Nothing, Page } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { BuildLog } from './BuildLog';
import styles from './environments.module.css';
import { words } from './words';

type Environment = Schemas['EnvironmentBody'];

const route = getRouteApi('/shell/environments');
const JOBS_SHOWN = 3;

/** The packages that were installed for one's jobs, for admins those of everybody. */
export function EnvironmentsPage() {
  const say = useWords(words);
  const { job } = route.useSearch();
  const nameOf = useJobNames();
  const { data: all, error } = useQuery(environmentsQuery);
  const [shown, setShown] = useState<Environment | null>(null);
  const found = job === undefined ? all : all?.filter(({ jobs }) => jobs.includes(job));
  return (
    <Page title={say.title} actions={job !== undefined && <Link to="/environments">{say.all}</Link>}>
      <p className={styles.intro}>{job === undefined ? say.intro : say.ofJob(nameOf(job))}</p>
      {error && !all && <Failure error={error} />}
      {(all || !error) && (
        <Card isFlush>
          {!found && <Skeleton active className={styles.skeleton} title={false} />}
          {found?.length === 0 && <None job={job} />}
          {found && found.length > 0 && <List environments={found} onShow={setShown} />}
        </Card>
      )}
      {shown && <BuildLog environment={shown} onClose={() => setShown(null)} />}
    </Page>
  );
}

function None({ job }: { job: string | undefined }) {
  const say = useWords(words);
  if (job === undefined) return <Nothing title={say.nothing} hint={say.nothingHint} />;
  const action = (
    <Link to="/jobs/$jobId" params={{ jobId: job }}>
      {say.toJob}
    </Link>
  );
  return <Nothing title={say.nothingOfJob} hint={say.nothingOfJobHint} action={action} />;
}

interface ListProps {
  environments: readonly Environment[];
  onShow: (environment: Environment) => void;
}

function List({ environments, onShow }: ListProps) {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const columns: Column<Environment>[] = [
    { key: 'packages', title: say.packages, isWide: true, cell: (one) => <Packages environment={one} /> },
    { key: 'state', title: say.state, cell: (one) => (one.is_building ? say.building : say.ready) },
    {
      key: 'size',
      title: say.size,
      isRight: true,
      cell: ({ is_building, size_bytes }) => (is_building ? '–' : bytes(size_bytes)),
    },
    { key: 'used', title: say.lastUsed, cell: ({ used_at }) => <TimeAgo at={used_at} /> },
    { key: 'jobs', title: say.usedBy, cell: ({ jobs }) => <UsedBy jobs={jobs} /> },
    ...(me?.is_admin ? [{ key: 'owner', title: say.owner, cell: ({ owner }: Environment) => owner }] : []),
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (one) => <Actions environment={one} onShow={() => onShow(one)} />,
    },
  ];
  return <DataTable label={say.title} columns={columns} rows={environments} rowKey={({ id }) => id} />;
}

function Packages({ environment: { id, kind, what, python, image } }: { environment: Environment }) {
  const say = useWords(words);
  return (
    <>
      <strong>{what}</strong>
      <div className={styles.under}>
        {[say.kinds[kind] ?? kind, kind !== 'conda' && say.pythonOf(python, image)]
          .filter(Boolean)
          .join(' · ')}{' '}
        · <span className="mono">{id}</span>
      </div>
    </>
  );
}

/** The jobs that cannot do without it now. */
function UsedBy({ jobs }: { jobs: readonly string[] }) {
  const say = useWords(words);
  const nameOf = useJobNames();
  if (jobs.length === 0) return <span className="quiet">{say.nobody}</span>;
  return (
    <div className={styles.jobs}>
      {jobs.slice(0, JOBS_SHOWN).map((id) => (
        <Link key={id} to="/jobs/$jobId" params={{ jobId: id }}>
          {nameOf(id)}
        </Link>
      ))}
      {jobs.length > JOBS_SHOWN && <span className="quiet">{say.more(jobs.length - JOBS_SHOWN)}</span>}
    </div>
  );
}

function Actions({ environment, onShow }: { environment: Environment; onShow: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const { id, what, jobs, is_building } = environment;
  const removing = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/environments/{name}', { params: { path: { name: id } } })),
    onSuccess: () => done(say.removed(what)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: environmentsQuery.queryKey }),
  });
  const inUse = jobs.length > 0 ? say.inUse(jobs.length) : undefined;
  return (
    <div className={styles.actions}>
      <Button size="small" aria-label={say.logOf(what)} onClick={onShow}>
        {say.log}
      </Button>
      <RiskMenu
        of={what}
        label={say.remove}
        icon={<DeleteOutlined aria-hidden />}
        title={say.removeAsk(what)}
        hint={say.removeHint}
        blocked={is_building ? say.isBuilding : inUse}
        onOk={() => removing.mutate()}
      />
    </div>
  );
}
