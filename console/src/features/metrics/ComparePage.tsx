import { useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Segmented, Select, Skeleton, Switch } from 'antd';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { StateTag } from '@/ui/jobState';
import { Card, Nothing, Page } from '@/ui/Page';
import { TensorBoardButton } from '../job/inside/TensorBoardButton';
import { Controls, useDrawing } from './Controls';
import { CurveCharts } from './CurveCharts';
import { type Curve, short, whoseOf } from './curves';
import styles from './metrics.module.css';
import { latestQuery, metricsQuery, useLiveMetrics } from './queries';
import { words } from './words';

type Compared = Schemas['LatestOfJob'];
type Best = 'last' | 'lowest' | 'highest';

const route = getRouteApi('/shell/compare');

/** Jobs side by side: their parameters, their values, and their curves in the same charts. */
export function ComparePage() {
  const say = useWords(words);
  const { jobs: given = '' } = route.useSearch();
  const ids = given.split(',').filter(Boolean);
  const { data: jobs, error } = useQuery(latestQuery(ids));
  useLiveMetrics(ids);
  return (
    <Page title={say.compareTitle} actions={ids.length > 0 && <TensorBoardButton jobs={ids} />}>
      {error && !jobs && <Failure error={error} />}
      {ids.length === 0 && (
        <Nothing
          title={say.compareNone}
          hint={say.compareHint}
          action={<Link to="/jobs">{say.toJobs}</Link>}
        />
      )}
      {ids.length > 0 && !jobs && !error && <Skeleton active paragraph={{ rows: 8 }} />}
      {jobs && ids.length > 0 && (
        <div className={styles.stack}>
          <Values jobs={jobs} />
          <Parameters jobs={jobs} />
          <Curves jobs={jobs} />
        </div>
      )}
    </Page>
  );
}

function figureOf(job: Compared, metric: string, best: Best): number | null {
  const found = job.items.find(({ name }) => name === metric);
  if (!found) return null;
  return best === 'last' ? (found.last?.value ?? null) : found[best];
}

/** The values of each job; a click on a metric sorts by it. */
function Values({ jobs }: { jobs: readonly Compared[] }) {
  const say = useWords(words);
  const [best, setBest] = useState<Best>('last');
  const [sort, setSort] = useState<{ metric: string; isDown: boolean } | null>(null);
  const metrics = [...new Set(jobs.flatMap(({ items }) => items.map(({ name }) => name)))].sort();
  const worth = (job: Compared) => {
    const value = sort && figureOf(job, sort.metric, best);
    return value === null ? Number.POSITIVE_INFINITY : sort?.isDown ? -value : value;
  };
  const sorted = sort ? [...jobs].sort((one, other) => worth(one) - worth(other)) : jobs;
  const turn = (metric: string) =>
    setSort((now) => ({ metric, isDown: now?.metric === metric ? !now.isDown : false }));
  return (
    <Card
      title={say.values}
      extra={
        <Segmented
          value={best}
          onChange={setBest}
          options={(['last', 'lowest', 'highest'] as const).map((value) => ({
            value,
            label: say.bestOf[value],
          }))}
        />
      }
    >
      <div className={styles.scroll}>
        <table className={styles.table}>
          <thead>
            <tr>
              <th>{say.job}</th>
              <th>{say.state}</th>
              {metrics.map((metric) => (
                <th
                  key={metric}
                  aria-sort={sort?.metric === metric ? (sort.isDown ? 'descending' : 'ascending') : undefined}
                >
                  <button type="button" className={styles.sorter} onClick={() => turn(metric)}>
                    {metric}
                    {sort?.metric === metric && (sort.isDown ? ' ↓' : ' ↑')}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((job) => (
              <tr key={job.id}>
                <td>
                  <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
                    {job.name}
                  </Link>
                </td>
                <td>
                  <StateTag state={job.state} />
                </td>
                {metrics.map((metric) => {
                  const value = figureOf(job, metric, best);
                  return <td key={metric}>{value === null ? '–' : short(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** The parameters side by side; those that differ are marked. */
function Parameters({ jobs }: { jobs: readonly Compared[] }) {
  const say = useWords(words);
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const names = [...new Set(jobs.flatMap(({ parameters }) => Object.keys(parameters)))].sort();
  const text = (job: Compared, name: string) => {
    const value = job.parameters[name];
    return value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
  };
  const differs = (name: string) => new Set(jobs.map((job) => text(job, name))).size > 1;
  const shown = onlyDifferent ? names.filter(differs) : names;
  return (
    <Card
      title={say.parameters}
      extra={
        // biome-ignore lint/a11y/noLabelWithoutControl: the switch is the control
        <label>
          <Switch
            size="small"
            checked={onlyDifferent}
            onChange={setOnlyDifferent}
            aria-label={say.onlyDifferent}
          />{' '}
          {say.onlyDifferent}
        </label>
      }
    >
      {names.length === 0 && <p className="quiet">{say.noParameters}</p>}
      {names.length > 0 && (
        <div className={styles.scroll}>
          <table className={styles.table}>
            <thead>
              <tr>
                <th />
                {jobs.map(({ id, name }) => (
                  <th key={id}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((name) => (
                <tr key={name} data-differs={differs(name)}>
                  <th>{name}</th>
                  {jobs.map((job) => (
                    <td key={job.id}>{text(job, name)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  );
}

/** The curves of all jobs, laid over each other. */
function Curves({ jobs }: { jobs: readonly Compared[] }) {
  const say = useWords(words);
  const [drawing, setDrawing] = useDrawing();
  const [names, setNames] = useState<string[]>([]);
  const wanted = { axis: drawing.axis, range: drawing.range, names };
  const answers = useQueries({ queries: jobs.map(({ id }) => metricsQuery(id, wanted)) });
  const whose = new Map<Curve, string>();
  const curves = answers.flatMap(({ data }, index) => {
    const name = jobs[index]?.name ?? '';
    const more = whoseOf(data?.items ?? []);
    for (const curve of data?.items ?? []) whose.set(curve, [name, more(curve)].filter(Boolean).join(' '));
    return data?.items ?? [];
  });
  const all = [...new Set(jobs.flatMap(({ items }) => items.map(({ name }) => name)))].sort();
  return (
    <div>
      <Controls drawing={drawing} onDrawing={setDrawing}>
        <Select
          mode="multiple"
          aria-label={say.metric}
          placeholder={say.metric}
          className={styles.wide}
          maxTagCount={2}
          value={names}
          onChange={setNames}
          options={all.map((value) => ({ value, label: value }))}
        />
      </Controls>
      <CurveCharts
        curves={curves}
        whose={(curve) => whose.get(curve) ?? ''}
        drawing={drawing}
        onDrawing={setDrawing}
      />
    </div>
  );
}
