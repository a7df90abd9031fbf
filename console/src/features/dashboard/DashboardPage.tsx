import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Alert, Skeleton } from 'antd';
import type { JobState } from '@/api/client';
import { jobsQuery, sessionQuery, summaryQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytesOf } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { isKept } from '@/ui/jobState';
import { Card, Page } from '@/ui/Page';
import { UseBar } from '@/ui/UseBar';
import styles from './dashboard.module.css';
import { JobsCard } from './JobsCard';
import { LastDay } from './LastDay';
import { NodesCard } from './NodesCard';
import { QueuesCard } from './QueuesCard';
import { words } from './words';

const N_SHOWN = 8;
/** In two columns, so that what others do is in sight too. */
const N_MINE = 6;
const MOST_STOPPING = 200;
const RUNNING: JobState[] = ['STARTING', 'RUNNING', 'STOPPING'];

export function DashboardPage() {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const running = useQuery(jobsQuery({ state: RUNNING, limit: N_SHOWN }));
  const waiting = useQuery(jobsQuery({ state: ['QUEUED'], sort: 'submitted_at', limit: N_SHOWN }));
  const mine = useQuery(jobsQuery({ owner: [me?.name ?? ''], limit: N_MINE }));
  return (
    <Page title={say.title}>
      <div className={styles.stack}>
        {me && !me.is_admin && me.queues.length === 0 && (
          <Alert type="info" showIcon title={say.noQueue} description={say.noQueueHint(me.name)} />
        )}
        <Today />
        <JobsCard
          title={say.mine}
          query={mine}
          search={{ owner: me ? [me.name] : undefined }}
          nothing={say.noneOfMine}
          hint={say.noneOfMineHint}
          action={<Link to="/submit">{say.submit}</Link>}
          areMine
        />
        <div className={styles.columns}>
          <JobsCard
            title={say.why}
            query={waiting}
            search={{ state: ['QUEUED'] }}
            nothing={say.nothingWaits}
            hint={say.nothingWaitsHint}
          />
          <JobsCard
            title={running.data?.items.some(isKept) ? say.nowAndKept : say.now}
            query={running}
            search={{ state: RUNNING }}
            nothing={say.nothingRuns}
          />
        </div>
        <div className={styles.columns}>
          <QueuesCard />
          <NodesCard />
        </div>
      </div>
    </Page>
  );
}

/** The counts of today, each a way to the jobs behind it, and what is taken of the machines. */
function Today() {
  const say = useWords(words);
  const { data, error } = useQuery(summaryQuery);
  const { data: stopping } = useQuery(jobsQuery({ state: ['STOPPING'], limit: MOST_STOPPING }));
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton active paragraph={{ rows: 2 }} title={false} />;
  const { jobs, finished_today: ended, resources } = data;
  const nKept = stopping?.items.filter(isKept).length ?? 0;
  const nRunning = RUNNING.reduce((sum, state) => sum + (jobs[state] ?? 0), 0) - nKept;
  const { total, used } = resources;
  return (
    <>
      <div className={styles.tiles}>
        <Tile label={say.runningTile(nKept)} value={Math.max(0, nRunning)} states={RUNNING} tone="busy" />
        <Tile label={say.waiting} value={jobs.QUEUED ?? 0} states={['QUEUED']} tone="wait" />
        <Tile label={say.succeeded} value={ended.SUCCEEDED ?? 0} states={['SUCCEEDED']} tone="good" />
        <Tile label={say.failed} value={ended.FAILED ?? 0} states={['FAILED']} tone="bad" />
        <Tile label={say.stopped} value={ended.STOPPED ?? 0} states={['STOPPED']} tone="muted" />
      </div>
      <Card>
        <div className={styles.bars}>
          <div>
            <UseBar label={say.cpus} used={used.cpus ?? 0} total={total.cpus ?? 0} />
            <LastDay kind="cpus" />
          </div>
          <div>
            <UseBar
              label={say.memory}
              used={used.memory_bytes ?? 0}
              total={total.memory_bytes ?? 0}
              show={bytesOf}
            />
            <LastDay kind="memory_bytes" />
          </div>
          {(total.gpus ?? 0) > 0 && (
            <div>
              <UseBar label={say.gpus} used={used.gpus ?? 0} total={total.gpus ?? 0} />
              <LastDay kind="gpus" />
            </div>
          )}
        </div>
      </Card>
    </>
  );
}

interface TileProps {
  label: string;
  value: number;
  states: JobState[];
  tone: string;
}

function Tile({ label, value, states, tone }: TileProps) {
  return (
    <Link
      to="/jobs"
      search={{ state: states }}
      className={styles.tile}
      data-tone={tone}
      data-zero={value === 0}
    >
      <span className={styles.tileValue}>{value.toLocaleString()}</span>
      <span className={styles.tileLabel}>{label}</span>
    </Link>
  );
}
