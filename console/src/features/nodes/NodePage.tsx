import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Select, Skeleton } from 'antd';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes, useAmount } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { useJobNames } from '@/ui/jobNames';
import { StateTag } from '@/ui/jobState';
import { NodeBars } from '@/ui/NodeBars';
import { NodeLimits } from '@/ui/NodeLimits';
import { Card, Nothing, Page } from '@/ui/Page';
import { UsageCharts } from '@/ui/UsageCharts';
import styles from './nodes.module.css';
import { nodeQuery, nodeUsageQuery, SPANS, type Span } from './queries';
import { words } from './words';

type Node = Schemas['NodeDetail'];
type Task = Schemas['NodeTask'];
type Gpu = Schemas['GpuBody'];

const route = getRouteApi('/shell/nodes/$name');

/** One machine: what is used of it over time, its cards, and the tasks there. */
export function NodePage() {
  const say = useWords(words);
  const { name } = route.useParams();
  const { data: node, error } = useQuery(nodeQuery(name));
  return (
    <Page
      title={name}
      actions={
        node && !node.is_schedulable && <span className={styles.drained}>{say.drained(node.drained_by)}</span>
      }
    >
      {error && !node && <Failure error={error} />}
      {!node && !error && (
        <Card>
          <Skeleton active />
        </Card>
      )}
      {node && (
        <div className={styles.stack}>
          <Held node={node} />
          <Usage node={node} />
          {node.gpus.length > 0 && <Cards node={node} />}
          <Tasks node={node} />
        </div>
      )}
    </Page>
  );
}

/** What jobs have asked for of the node, used or not, and what they are held to there. */
function Held({ node }: { node: Node }) {
  const say = useWords(words);
  return (
    <Card title={say.held} extra={<span className="quiet">{node.address}</span>}>
      <NodeBars node={node} say={say} />
      <NodeLimits node={node} />
    </Card>
  );
}

const WHOLE = -1;

function Usage({ node }: { node: Node }) {
  const say = useWords(words);
  const [span, setSpan] = useState<Span>('10m');
  const [card, setCard] = useState(WHOLE);
  const isCard = card !== WHOLE;
  const { data, error } = useQuery(nodeUsageQuery(node.name, span, isCard ? card : undefined));
  const most = { cpus: node.cpus, memory_bytes: node.memory_bytes };
  return (
    <Card
      title={say.usage}
      extra={
        <div className={styles.choices}>
          {node.cards.length > 0 && (
            <Select
              aria-label={say.card}
              value={card}
              onChange={setCard}
              options={[
                { value: WHOLE, label: say.allCards },
                ...node.gpus.map(({ index, type }) => ({ value: index, label: say.oneCard(index, type) })),
              ]}
            />
          )}
          <Select
            className={styles.span}
            aria-label={say.span}
            value={span}
            onChange={setSpan}
            options={SPANS.map((value) => ({ value, label: say.spans[value] }))}
          />
        </div>
      }
    >
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active title={false} paragraph={{ rows: 8 }} />}
      {data?.points.length === 0 && <Nothing title={say.noUsage} hint={say.noUsageHint} />}
      {data && data.points.length > 0 && (
        <UsageCharts points={data.points} most={most} isNode isCard={data.card !== null} />
      )}
    </Card>
  );
}

function Cards({ node }: { node: Node }) {
  const say = useWords(words);
  const of = (gpu: Gpu) => node.cards.find(({ index }) => index === gpu.index);
  const columns: Column<Gpu>[] = [
    { key: 'card', title: say.card, cell: (gpu) => say.oneCard(gpu.index, gpu.type) },
    { key: 'use', title: say.use, isRight: true, cell: (gpu) => shareText(of(gpu)?.utilisation) },
    {
      key: 'memory',
      title: say.taken,
      isRight: true,
      cell: (gpu) => `${bytesText(of(gpu)?.memory_bytes)} / ${bytes(gpu.memory_bytes)}`,
    },
    { key: 'power', title: say.power, isRight: true, cell: (gpu) => wattsText(of(gpu)?.power_w) },
    { key: 'holder', title: say.holder, isWide: true, cell: (gpu) => <Holder gpu={gpu} /> },
  ];
  return (
    <Card title={say.cards} isFlush>
      <DataTable label={say.cards} columns={columns} rows={node.gpus} rowKey={({ index }) => index} />
    </Card>
  );
}

const shareText = (value: number | undefined) => (value === undefined ? '–' : `${Math.round(value * 100)} %`);
const bytesText = (value: number | undefined) => (value === undefined ? '–' : bytes(value));
const wattsText = (value: number | null | undefined) => (value == null ? '–' : `${Math.round(value)} W`);

function Holder({ gpu }: { gpu: Gpu }) {
  const say = useWords(words);
  const nameOf = useJobNames();
  if (gpu.job_id === null)
    return <span className="quiet">{gpu.in_use_by_others ? say.others : say.free}</span>;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: gpu.job_id }}>
      {nameOf(gpu.job_id)}
    </Link>
  );
}

function Tasks({ node }: { node: Node }) {
  const say = useWords(words);
  const amount = useAmount();
  const columns: Column<Task>[] = [
    {
      key: 'job',
      title: say.job,
      isWide: true,
      cell: (task) => (
        <Link to="/jobs/$jobId" params={{ jobId: task.job_id }}>
          {task.job_name}
        </Link>
      ),
    },
    { key: 'task', title: say.task, cell: (task) => task.task },
    { key: 'owner', title: say.owner, cell: (task) => task.owner },
    { key: 'state', title: say.state, cell: (task) => <StateTag state={task.state} /> },
    { key: 'resources', title: say.resources, cell: (task) => amount(task.resources) },
  ];
  return (
    <Card title={say.tasks} isFlush>
      {node.tasks.length === 0 && node.n_hidden_tasks === 0 && (
        <Nothing title={say.noTasks} hint={say.noTasksHint} />
      )}
      {node.tasks.length > 0 && (
        <DataTable
          label={say.tasks}
          columns={columns}
          rows={node.tasks}
          rowKey={({ job_id, task }) => `${job_id} ${task}`}
        />
      )}
      {node.n_hidden_tasks > 0 && (
        <p className={`quiet ${styles.hidden}`}>{say.hidden(node.n_hidden_tasks)}</p>
      )}
    </Card>
  );
}
