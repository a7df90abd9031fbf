import { CaretDownOutlined, CaretUpOutlined, LockOutlined } from '@ant-design/icons';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Tooltip } from 'antd';
import type { Job } from '@/api/client';
import { MetricCell, MetricChoice } from '@/features/metrics/MetricCell';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { CheckBox } from '@/ui/CheckBox';
import { hasEnded, isKept, StateTag } from '@/ui/jobState';
import { RunTime, TimeAgo } from '@/ui/time';
import { useTold } from '@/ui/told';
import { words as uiWords } from '@/ui/words';
import type { ColumnName } from './columns';
import styles from './jobs.module.css';
import { DEFAULT_SORT, type Sort } from './search';
import { words } from './words';

const route = getRouteApi('/shell/jobs');

export interface ListProps {
  jobs: readonly Job[];
  columns: readonly ColumnName[];
  asOf: number;
  isTrash: boolean;
  selected: Set<string>;
  onSelect: (ids: Set<string>) => void;
}

export function toggled(selected: Set<string>, id: string): Set<string> {
  const changed = new Set(selected);
  if (!changed.delete(id)) changed.add(id);
  return changed;
}

/** The selection with all jobs of a page, or without any of them. */
function withAll(selected: Set<string>, jobs: readonly Job[], isWanted: boolean): Set<string> {
  const changed = new Set(selected);
  for (const { id } of jobs) {
    if (isWanted) changed.add(id);
    else changed.delete(id);
  }
  return changed;
}

export function JobTable({ jobs, columns, asOf, isTrash, selected, onSelect }: ListProps) {
  const say = useWords(words);
  const ids = jobs.filter(({ is_readable }) => is_readable).map(({ id }) => id);
  const nSelected = jobs.filter((job) => selected.has(job.id)).length;
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th className={styles.check}>
            <CheckBox
              label={say.selectAll}
              isChecked={nSelected === jobs.length}
              isMixed={nSelected > 0 && nSelected < jobs.length}
              onChange={(isChecked) => onSelect(withAll(selected, jobs, isChecked))}
            />
          </th>
          <Heading sort="name">{say.name}</Heading>
          <Heading sort="state">{say.state}</Heading>
          {columns.map((name) => (
            <ColumnHeading key={name} name={name} isTrash={isTrash} jobs={ids} />
          ))}
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id} data-selected={selected.has(job.id)}>
            <td className={styles.check}>
              <CheckBox
                label={say.select(job.name)}
                isChecked={selected.has(job.id)}
                onChange={() => onSelect(toggled(selected, job.id))}
              />
            </td>
            <Cells job={job} jobs={ids} columns={columns} asOf={asOf} isTrash={isTrash} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface CellsProps {
  job: Job;
  /** The jobs of the whole list. */
  jobs: readonly string[];
  columns: readonly ColumnName[];
  asOf: number;
  isTrash: boolean;
}

function Cells({ job, jobs, columns, asOf, isTrash }: CellsProps) {
  const say = useWords(words);
  const under = [
    // First what is cut least gladly.
    job.attempt > 0 && say.attempt(job.attempt),
    job.n_tasks > 1 && say.tasks(job.n_tasks),
    !columns.includes('owner') && job.owner,
    !columns.includes('queue') && job.queue,
  ];
  return (
    <>
      <td className={styles.name}>
        <Link to="/jobs/$jobId" params={{ jobId: job.id }} title={job.name}>
          {job.name}
        </Link>
        <div className={styles.under}>
          {under.filter(Boolean).join(' · ')}
          <Privacy job={job} />
        </div>
      </td>
      <td className={styles.state}>
        <StateTag state={job.state} isKept={isKept(job)} />
        <Why job={job} />
      </td>
      {columns.map((name) => (
        <Cell key={name} name={name} job={job} jobs={jobs} asOf={asOf} isTrash={isTrash} />
      ))}
    </>
  );
}

/** A sign at jobs of which only an outline is shown. */
export function Privacy({ job }: { job: Job }) {
  const say = useWords(words);
  if (job.is_readable) return null;
  return (
    <Tooltip title={say.isPrivate(job.owner)}>
      <span role="img" className={styles.lock} aria-label={say.isPrivate(job.owner)}>
        <LockOutlined aria-hidden />
      </span>
    </Tooltip>
  );
}

interface CellProps {
  name: ColumnName;
  job: Job;
  jobs: readonly string[];
  asOf: number;
  isTrash: boolean;
}

function Cell({ name, job, jobs, asOf, isTrash }: CellProps) {
  const amount = useAmount();
  const cut = (text: string) => (
    <td className={styles.cut} title={text}>
      {text}
    </td>
  );
  switch (name) {
    case 'queue':
      return cut(job.queue);
    case 'owner':
      return cut(job.owner);
    case 'tags':
      return cut(job.tags.join(', '));
    case 'id':
      return <td className="mono">{job.id}</td>;
    case 'resources':
      return <td className={styles.resources}>{amount(job.resources)}</td>;
    case 'priority':
      return <td className="number">{job.priority}</td>;
    case 'submitted':
      return (
        <td className={styles.when}>
          <TimeAgo at={job.submitted_at} />
        </td>
      );
    case 'ended':
      return (
        <td className={styles.when}>
          <TimeAgo at={job.finished_at} />
        </td>
      );
    case 'progress':
      return cut(job.progress?.fraction ? `${Math.floor(job.progress.fraction * 100)} %` : '');
    case 'metric':
      return <MetricCell job={job.id} jobs={jobs} />;
    case 'runTime':
      return (
        <td className={`${styles.right} ${styles.when}`}>
          {isTrash ? (
            <TimeAgo at={job.deleted_at} />
          ) : (
            <RunTime seconds={job.run_time_s} asOf={asOf} isOver={hasEnded(job)} />
          )}
        </td>
      );
  }
}

/** Columns by which the server sorts. */
const SORTED_BY: Partial<Record<ColumnName, Sort>> = {
  queue: 'queue',
  owner: 'owner',
  priority: 'priority',
  submitted: 'submitted_at',
};

interface HeadingProps {
  name: ColumnName;
  isTrash: boolean;
  jobs: readonly string[];
}

function ColumnHeading({ name, isTrash, jobs }: HeadingProps) {
  const say = useWords(words);
  const sort = SORTED_BY[name];
  const title = name === 'runTime' && isTrash ? say.deleted : say.columnNames[name];
  if (sort) return <Heading sort={sort}>{title}</Heading>;
  if (name === 'metric') {
    return (
      <th className={styles.right}>
        <MetricChoice jobs={jobs} />
      </th>
    );
  }
  return <th className={name === 'runTime' ? styles.right : undefined}>{title}</th>;
}

/** Why a job is where it is, where its state alone does not say. */
export function Why({ job }: { job: Job }) {
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  const told = useTold();
  if (job.is_deleting) return <div className={styles.under}>{say.isDeleting}</div>;
  if (isKept(job) || ['running', 'completed', 'submitted', 'preparing'].includes(job.reason.code))
    return null;
  return (
    <Tooltip title={told(job.reason)}>
      <div className={styles.under}>
        {reasons[job.reason.code]}
        {job.position !== null && job.position > 0 && (
          <>
            {say.between}
            <span className={styles.ahead}>{say.ahead(job.position)}</span>
          </>
        )}
      </div>
    </Tooltip>
  );
}

/** A column's name that sorts by it: first up, then down, as the table says to screen readers too. */
function Heading({ sort, children }: { sort: Sort; children: string }) {
  const search = route.useSearch();
  const current = search.sort ?? DEFAULT_SORT;
  const isSorted = current.replace(/^-/, '') === sort;
  const isDown = current.startsWith('-');
  const beginsDown = sort === 'submitted_at' || sort === 'priority';
  const next = isSorted ? (isDown ? sort : `-${sort}`) : beginsDown ? `-${sort}` : sort;
  return (
    <th aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}>
      <Link
        to="/jobs"
        search={{ ...search, sort: next === DEFAULT_SORT ? undefined : next, after: undefined }}
        className={styles.sorter}
        data-sorted={isSorted}
        replace
      >
        {children}
        {isSorted && !isDown ? <CaretUpOutlined aria-hidden /> : <CaretDownOutlined aria-hidden />}
      </Link>
    </th>
  );
}
