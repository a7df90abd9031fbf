import { SearchOutlined } from '@ant-design/icons';
import { Link } from '@tanstack/react-router';
import { Button, Checkbox, Input, Select } from 'antd';
import { useState } from 'react';
import type { Attempt, JobDetail, Task } from '@/api/client';
import { useWords } from '@/i18n/language';
import { TaskStateTag } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { span, useNow } from '@/ui/time';
import styles from '../job.module.css';
import { words } from '../words';

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
        <section className={styles.scroll} tabIndex={0} aria-label={say.tasks}>
          <TaskTable jobId={job.id} attempt={chosen} tasks={tasks.slice(0, nShown)} />
        </section>
      )}
      {tasks.length > nShown && (
        <Button type="link" onClick={() => setShown(nShown + SHOWN_AT_ONCE)}>
          {say.showMore(Math.min(SHOWN_AT_ONCE, tasks.length - nShown))}
        </Button>
      )}
    </Card>
  );
}

function isFailed(task: Task): boolean {
  return task.state === 'LOST' || (task.exit_code !== null && task.exit_code !== 0);
}

function TaskTable({ jobId, attempt, tasks }: { jobId: string; attempt: number; tasks: readonly Task[] }) {
  const say = useWords(words);
  const now = useNow();
  const hasGpus = tasks.some((task) => task.gpus.length > 0);
  const hasCauses = tasks.some((task) => task.cause || task.detail);
  const hasRuns = tasks.some((task) => task.run > 0);
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th className={styles.first}>{say.task}</th>
          <th>{say.state}</th>
          <th>{say.node}</th>
          <th>{say.address}</th>
          {hasGpus && <th>{say.gpus}</th>}
          <th>{say.ports}</th>
          <th className={styles.right}>{say.took}</th>
          {hasRuns && <th className={styles.right}>{say.runs}</th>}
          {hasCauses && <th>{say.cause}</th>}
          <th>{say.logs}</th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <tr key={task.name}>
            <td className={`${styles.first} mono`}>{task.name}</td>
            <td>
              <TaskStateTag state={task.state} exitCode={task.exit_code} />
            </td>
            <td>{task.node || '–'}</td>
            <td className="mono">{task.address || '–'}</td>
            {hasGpus && <td className="number">{task.gpus.join(', ') || '–'}</td>}
            <td className="mono">{portsText(task)}</td>
            <td className={`${styles.right} number`}>{tookText(task, now)}</td>
            {hasRuns && <td className={`${styles.right} number`}>{task.run}</td>}
            {hasCauses && <td className={styles.cause}>{say.causeOf(task)}</td>}
            <td>
              <Link
                to="/jobs/$jobId"
                params={{ jobId }}
                search={{ tab: 'logs', task: task.name, attempt: String(attempt) }}
                aria-label={say.logOf(task.name)}
              >
                {say.logs}
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function portsText(task: Task): string {
  const groups = Object.entries(task.ports).map(([label, ports]) => `${label} ${ranges(ports)}`);
  return groups.join(', ') || '–';
}

function ranges(ports: readonly number[]): string {
  const [first, last] = [ports[0], ports.at(-1)];
  const isRow = ports.length > 2 && Number(last) - Number(first) === ports.length - 1;
  return isRow ? `${first}–${last}` : ports.join(' ');
}

function tookText(task: Task, now: number): string {
  if (task.started_at === null) return '–';
  const end = task.finished_at === null ? now : Date.parse(task.finished_at);
  return span(Math.max(0, (end - Date.parse(task.started_at)) / 1000));
}
