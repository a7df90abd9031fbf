import { SearchOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button, Checkbox, Input, Select } from 'antd';
import { Fragment, type ReactNode, useState } from 'react';
import type { Attempt, JobDetail, Task } from '@/api/client';
import { nodesQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import type { Language } from '@/i18n/translated';
import { type Column, DataTable } from '@/ui/DataTable';
import { TaskStateTag } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { span, useNow } from '@/ui/time';
import { useTold } from '@/ui/told';
import styles from '../job.module.css';
import { words } from '../words';
import { isFailed } from './failed';

const SHOWN_AT_ONCE = 100;
const MANY = 10;

/** The tasks of one attempt: where each ran, with what, and how it ended. */
export function Tasks({ job, attempts }: { job: JobDetail; attempts: readonly Attempt[] }) {
  const say = useWords(words);
  const [number, setNumber] = useState<number>();
  const [wanted, setWanted] = useState('');
  const [isFailedOnly, setFailedOnly] = useState(false);
  const [nShown, setShown] = useState(SHOWN_AT_ONCE);
  const chosen = number ?? job.attempt;
  const all =
    chosen === job.attempt ? job.tasks : (attempts.find((one) => one.number === chosen)?.tasks ?? []);
  const tasks = all.filter((task) => task.name.includes(wanted.trim()) && (!isFailedOnly || isFailed(task)));
  const tools = (
    <div className={styles.taskTools}>
      {all.length > MANY && (
        <>
          <Checkbox checked={isFailedOnly} onChange={(event) => setFailedOnly(event.target.checked)}>
            {say.onlyFailed}
          </Checkbox>
          <Input
            allowClear
            size="small"
            prefix={<SearchOutlined aria-hidden />}
            placeholder={say.findTask}
            aria-label={say.findTask}
            value={wanted}
            onChange={(event) => setWanted(event.target.value)}
          />
        </>
      )}
      {attempts.length > 1 && (
        <Select
          size="small"
          aria-label={say.attempts}
          value={chosen}
          onChange={setNumber}
          options={attempts.map((one) => ({ value: one.number, label: say.attempt(one.number + 1) }))}
        />
      )}
    </div>
  );
  return (
    <Card title={`${say.tasks} (${all.length})`} extra={tools} isFlush>
      {tasks.length === 0 ? (
        <Nothing title={say.noTasks} />
      ) : (
        <TaskTable jobId={job.id} attempt={chosen} tasks={tasks.slice(0, nShown)} />
      )}
      {tasks.length > nShown && (
        <Button type="link" onClick={() => setShown(nShown + SHOWN_AT_ONCE)}>
          {say.showMore(Math.min(SHOWN_AT_ONCE, tasks.length - nShown))}
        </Button>
      )}
    </Card>
  );
}

function TaskTable({ jobId, attempt, tasks }: { jobId: string; attempt: number; tasks: readonly Task[] }) {
  const say = useWords(words);
  const { language } = useLanguage();
  const now = useNow();
  const told = useTold();
  const cardsOf = useCards();
  const hasGpus = tasks.some((task) => task.gpus.length > 0);
  // On one machine all tasks have the same, which says nothing.
  const hasAddresses = tasks.some(({ address }) => address !== '' && !LOOPBACK.test(address));
  const hasCauses = tasks.some((task) => task.cause || task.detail);
  const hasRuns = tasks.some((task) => task.run > 0);
  const optional = (has: boolean, column: Column<Task>) => (has ? [column] : []);
  const columns: Column<Task>[] = [
    { key: 'task', title: say.task, cell: ({ name }) => <Whole isMono>{name}</Whole> },
    { key: 'state', title: say.state, cell: (task) => <State task={task} /> },
    { key: 'node', title: say.node, cell: ({ node }) => <Whole>{node || '–'}</Whole> },
    ...optional(hasAddresses, {
      key: 'address',
      title: say.address,
      cell: ({ address }) => <span className="mono">{address || '–'}</span>,
    }),
    ...optional(hasGpus, { key: 'gpus', title: say.gpus, cell: (task) => cardsOf(task) || '–' }),
    { key: 'ports', title: say.ports, cell: (task) => <Ports task={task} /> },
    {
      key: 'took',
      title: say.took,
      isRight: true,
      cell: (task) => <span className="number">{tookText(task, now, language)}</span>,
    },
    ...optional(hasRuns, { key: 'runs', title: say.runs, isRight: true, cell: ({ run }) => run }),
    ...optional(hasCauses, {
      key: 'cause',
      title: say.cause,
      cell: ({ cause, detail }) => (
        <div className={styles.cause}>{say.causeOf(cause, detail ? told(detail) : '')}</div>
      ),
    }),
    {
      key: 'logs',
      title: say.logs,
      cell: ({ name }) => (
        <Link
          to="/jobs/$jobId"
          params={{ jobId }}
          search={{ tab: 'logs', task: name, attempt: String(attempt) }}
          aria-label={say.logOf(name)}
        >
          {say.logs}
        </Link>
      ),
    },
  ];
  return <DataTable label={say.tasks} columns={columns} rows={tasks} rowKey={({ name }) => name} />;
}

const LOOPBACK = /^(127\.|::1$|localhost$)/;

/** A way to name the cards of a task: by their type, and their number in the node. */
function useCards(): (task: Task) => string {
  const { data: nodes } = useQuery(nodesQuery);
  return ({ node, gpus }) => {
    const cards = nodes?.find(({ name }) => name === node)?.gpus ?? [];
    return gpus
      .map((index) => `${cards.find((card) => card.index === index)?.type || 'GPU'} #${index}`)
      .join(', ');
  };
}

const State = ({ task }: { task: Task }) => (
  <TaskStateTag state={task.state} exitCode={task.exit_code} isStopped={task.cause === 'stopped'} />
);

/** A name is easier to find in one piece; a table that grows too wide is scrolled. */
function Whole({ isMono = false, children }: { isMono?: boolean; children: ReactNode }) {
  return <span className={`${styles.whole} ${isMono ? 'mono' : ''}`}>{children}</span>;
}

function Ports({ task }: { task: Task }) {
  const groups = Object.entries(task.ports);
  if (groups.length === 0) return '–';
  return groups.map(([label, ports], index) => (
    <Fragment key={label}>
      {index > 0 && ', '}
      <Whole isMono>{`${label} ${ranges(ports)}`}</Whole>
    </Fragment>
  ));
}

function ranges(ports: readonly number[]): string {
  const [first, last] = [ports[0], ports.at(-1)];
  const isRow = ports.length > 2 && Number(last) - Number(first) === ports.length - 1;
  return isRow ? `${first}–${last}` : ports.join(' ');
}

function tookText(task: Task, now: number, language: Language): string {
  if (task.started_at === null) return '–';
  const end = task.finished_at === null ? now : Date.parse(task.finished_at);
  return span(Math.max(0, (end - Date.parse(task.started_at)) / 1000), language);
}
