import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Button, Select, Skeleton } from 'antd';
import { useMemo } from 'react';
import { answer, api, download, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { useJobNames } from '@/ui/jobNames';
import { Card, Nothing, Page } from '@/ui/Page';
import { hours, money } from './money';
import { DAYS, GROUPS, type Group } from './routes';
import styles from './usage.module.css';
import { words } from './words';

type Line = Schemas['AccountLine'];

const route = getRouteApi('/shell/usage');
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

const reportQuery = (by: Group, since: string) =>
  queryOptions({
    queryKey: [...keys.platform, 'accounting', by, since],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/accounting', { params: { query: { by, since } }, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });

const sizesQuery = queryOptions({
  queryKey: [...keys.platform, 'sizes'],
  queryFn: ({ signal }) => answer(api.GET('/api/v1/sizes', { signal })),
});

/** What jobs used and cost in a period, and how much of the disk they take. */
export function UsagePage() {
  const say = useWords(words);
  const { by = 'user', days = '30' } = route.useSearch();
  const navigate = route.useNavigate();
  // By the hour, so that the same question is not a new one with every look.
  const since = useMemo(
    () => new Date(Math.floor(Date.now() / HOUR_MS) * HOUR_MS - Number(days) * DAY_MS).toISOString(),
    [days],
  );
  const { data, error } = useQuery(reportQuery(by, since));
  const csv = `/api/v1/accounting/export?since=${encodeURIComponent(since)}`;
  return (
    <Page title={say.title} actions={<Button onClick={() => void download(csv)}>{say.export}</Button>}>
      <p className={styles.intro}>{say.intro}</p>
      <div className={styles.tools}>
        <Select
          aria-label={say.period}
          value={days}
          options={DAYS.map((value) => ({ value, label: say.days[value] }))}
          onChange={(value) => void navigate({ search: (old) => ({ ...old, days: value }) })}
        />
        <Select
          aria-label={say.by}
          value={by}
          options={GROUPS.map((value) => ({ value, label: say.groups[value] }))}
          onChange={(value) => void navigate({ search: (old) => ({ ...old, by: value }) })}
        />
      </div>
      <div className={styles.stack}>
        {error && !data && <Failure error={error} />}
        {(data || !error) && (
          <Card isFlush>
            {!data && <Skeleton active title={false} style={{ padding: 16 }} />}
            {data?.items.length === 0 && <Nothing title={say.none} />}
            {data && data.items.length > 0 && <Report report={data} by={by} />}
          </Card>
        )}
        <Sizes />
      </div>
    </Page>
  );
}

function Report({ report, by }: { report: Schemas['AccountingReport']; by: Group }) {
  const say = useWords(words);
  const { currency, total } = report;
  const isPriced = total.cost !== null;
  const weight = (line: Line) => line.cost ?? (total.gpu_hours ? line.gpu_hours : line.cpu_hours);
  const whole = Math.max(weight(total), Number.EPSILON);
  const columns: Column<Line>[] = [
    {
      key: 'key',
      title: say.groups[by],
      isWide: true,
      cell: (line) => <Key line={line} by={by} isTotal={line === total} />,
    },
    { key: 'jobs', title: say.jobs, isRight: true, cell: ({ n_jobs }) => n_jobs },
    { key: 'gpu', title: say.gpu, isRight: true, cell: ({ gpu_hours }) => hours(gpu_hours) },
    { key: 'cpu', title: say.cpu, isRight: true, cell: ({ cpu_hours }) => hours(cpu_hours) },
    {
      key: 'memory',
      title: say.memory,
      isRight: true,
      cell: ({ memory_gb_hours }) => hours(memory_gb_hours),
    },
    ...(isPriced
      ? [
          {
            key: 'cost',
            title: say.cost,
            isRight: true,
            cell: ({ cost }: Line) => money(cost ?? 0, currency),
          },
        ]
      : []),
    {
      key: 'part',
      title: say.part,
      cell: (line) => <Bar part={line === total ? 1 : weight(line) / whole} />,
    },
  ];
  const rows = [...report.items, total];
  return (
    <DataTable
      label={say.title}
      columns={columns}
      rows={rows}
      rowKey={(line) => (line === total ? 'total of all' : `of ${line.key}`)}
    />
  );
}

interface KeyProps {
  line: Line;
  by: Group;
  isTotal: boolean;
}

function Key({ line, by, isTotal }: KeyProps) {
  const say = useWords(words);
  const nameOf = useJobNames();
  if (isTotal) return <strong>{say.total}</strong>;
  if (by === 'job')
    return (
      <Link to="/jobs/$jobId" params={{ jobId: line.key }}>
        {nameOf(line.key)}
      </Link>
    );
  return line.key || <span className="quiet">{say.untagged}</span>;
}

function Bar({ part }: { part: number }) {
  const percent = Math.min(100, Math.round(part * 100));
  return (
    <span className={styles.bar}>
      <span className={styles.fill} style={{ width: `${percent}%` }} />
      <span className={styles.percent}>{percent} %</span>
    </span>
  );
}

function Sizes() {
  const say = useWords(words);
  const { data } = useQuery(sizesQuery);
  if (!data) return null;
  const columns: Column<Schemas['UserSizes']>[] = [
    { key: 'user', title: say.user, isWide: true, cell: ({ user }) => user },
    { key: 'jobs', title: say.jobs, isRight: true, cell: ({ n_jobs }) => n_jobs },
    { key: 'logs', title: say.logs, isRight: true, cell: ({ logs_bytes }) => bytes(logs_bytes) },
    { key: 'outputs', title: say.outputs, isRight: true, cell: ({ outputs_bytes }) => bytes(outputs_bytes) },
    { key: 'work', title: say.work, isRight: true, cell: ({ work_bytes }) => bytes(work_bytes) },
    { key: 'code', title: say.code, isRight: true, cell: ({ code_bytes }) => bytes(code_bytes) },
    { key: 'models', title: say.models, isRight: true, cell: ({ models_bytes }) => bytes(models_bytes) },
    { key: 'total', title: say.total, isRight: true, cell: ({ total_bytes }) => bytes(total_bytes) },
  ];
  return (
    <Card title={say.sizes} isFlush>
      <DataTable label={say.sizes} columns={columns} rows={data.items} rowKey={({ user }) => user} />
      {data.free_bytes !== null && <p className={styles.free}>{say.free(bytes(data.free_bytes))}</p>}
    </Card>
  );
}
