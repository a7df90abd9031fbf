import { LockOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Alert, Skeleton, Tabs } from 'antd';
import { lazy, type ReactNode, Suspense, useEffect, useRef } from 'react';
import { ApiError, type JobDetail } from '@/api/client';
import { jobQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { isFinal } from '@/ui/jobState';
import { Nothing, useTabTitle } from '@/ui/Page';
import { PHONE, useMedia } from '@/ui/useMedia';
import { Header } from './Header';
import styles from './job.module.css';
import { LogsTab } from './log/LogsTab';
import { TABS, type Tab } from './routes';
import { EventsTab } from './tabs/EventsTab';
import { OverviewTab } from './tabs/OverviewTab';
import { words } from './words';

const route = getRouteApi('/shell/jobs/$jobId');
const ConfigTab = lazy(() => import('./tabs/ConfigTab'));
const ExecTab = lazy(() => import('./tabs/ExecTab'));
const MetricsTab = lazy(() => import('@/features/metrics/MetricsTab'));
const UsageTab = lazy(() => import('./tabs/UsageTab'));

export function JobPage() {
  const say = useWords(words);
  const { jobId } = route.useParams();
  const { tab } = route.useSearch();
  const { data: job, error, dataUpdatedAt } = useQuery(jobQuery(jobId));
  const navigate = route.useNavigate();
  const id = job?.id ?? jobId;
  useEffect(() => {
    // A name leads here too; live changes go by the id, which stays when the name changes.
    if (id !== jobId) void navigate({ params: { jobId: id }, search: (now) => now, replace: true });
  }, [id, jobId, navigate]);
  useTabTitle(job?.name ?? jobId);
  if (error && !job) {
    const isGone = error instanceof ApiError && error.status === 404;
    if (!isGone) return <Failure error={error} />;
    return <Nothing title={say.gone} hint={say.goneHint} action={<Link to="/jobs">{say.toJobs}</Link>} />;
  }
  if (!job) return <Skeleton active paragraph={{ rows: 10 }} />;
  return (
    <>
      {job.is_deleting && <Alert type="warning" showIcon title={say.deleting} className={styles.notice} />}
      {!job.is_deleting && job.deleted_at !== null && (
        <Alert type="info" showIcon title={say.inTrash} className={styles.notice} />
      )}
      <Header
        job={job}
        asOf={dataUpdatedAt}
        isShort={tab === 'logs' || tab === 'usage' || tab === 'metrics'}
      />
      {job.is_readable ? <JobTabs key={job.id} job={job} /> : <Private job={job} />}
    </>
  );
}

/** What stands in place of everything that only the owner and admins see. */
function Private({ job }: { job: JobDetail }) {
  const say = useWords(words);
  return (
    <Alert
      type="info"
      showIcon
      icon={<LockOutlined aria-hidden />}
      title={say.isPrivate}
      description={say.privateHint(job.owner, job.queue)}
    />
  );
}

/** All of them fit then: what does not is behind a button that screen readers take for a tab. */
const PHONE_GUTTER_PX = 6;

function JobTabs({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const { tab = 'overview' } = route.useSearch();
  const navigate = route.useNavigate();
  // Whoever may stop a living job may also run commands in it.
  const canRun = job.can.stop && (job.state === 'RUNNING' || job.kept_until !== null);
  const isPhone = useMedia(PHONE);
  const wasThere = useRef(false);
  wasThere.current ||= tab === 'exec';
  // Commands go on, and what they printed stays, while somebody looks elsewhere on this page.
  const shown = TABS.filter((name) => name !== 'exec' || (canRun && !isFinal(job.state)) || wasThere.current);
  return (
    <Tabs
      className={styles.tabs}
      tabBarGutter={isPhone ? PHONE_GUTTER_PX : undefined}
      activeKey={tab}
      onChange={(key) =>
        void navigate({
          search: (now) => ({ ...now, tab: key === 'overview' ? undefined : (key as Tab) }),
          replace: true,
        })
      }
      items={shown.map((name) => ({
        key: name,
        label: isPhone && name === 'config' ? say.configShort : say.tabs[name],
        destroyOnHidden: name !== 'exec',
        children: contentOf(name, job, canRun),
      }))}
    />
  );
}

function contentOf(tab: Tab, job: JobDetail, canRun: boolean): ReactNode {
  const waiting = <Skeleton active paragraph={{ rows: 8 }} title={false} />;
  switch (tab) {
    case 'overview':
      return <OverviewTab job={job} />;
    case 'logs':
      return <LogsTab job={job} />;
    case 'events':
      return <EventsTab job={job} />;
    case 'exec':
      return (
        <Suspense fallback={waiting}>
          <ExecTab job={job} canRun={canRun} />
        </Suspense>
      );
    case 'metrics':
      return (
        <Suspense fallback={waiting}>
          <MetricsTab job={job} />
        </Suspense>
      );
    case 'usage':
      return (
        <Suspense fallback={waiting}>
          <UsageTab job={job} />
        </Suspense>
      );
    case 'config':
      return (
        <Suspense fallback={waiting}>
          <ConfigTab job={job} />
        </Suspense>
      );
  }
}
