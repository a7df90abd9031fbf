import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { App, Skeleton, Switch } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { keys, nodesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { useJobNames } from '@/ui/jobNames';
import { NodeBars } from '@/ui/NodeBars';
import { NodeLimits } from '@/ui/NodeLimits';
import { Card, Nothing, Page } from '@/ui/Page';
import { useTell } from '@/ui/useTell';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';

type Node = Schemas['NodeBody'];

/** Every machine: what is taken of it, what holds there, and whether it takes jobs. */
export function NodesPage() {
  const say = useWords(words).nodes;
  const { data: nodes, error } = useQuery(nodesQuery);
  const namesEngine = new Set(nodes?.map(({ engine }) => engine)).size > 1;
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title}>
        {error && !nodes && <Failure error={error} />}
        {!nodes && !error && (
          <Card>
            <Skeleton active />
          </Card>
        )}
        {nodes?.length === 0 && (
          <Card>
            <Nothing title={say.none} hint={say.noneHint} />
          </Card>
        )}
        <div className={styles.stack}>
          {nodes?.map((node) => (
            <NodeCard key={node.name} node={node} namesEngine={namesEngine} />
          ))}
        </div>
      </Page>
    </AdminOnly>
  );
}

function NodeCard({ node, namesEngine }: { node: Node; namesEngine: boolean }) {
  const say = useWords(words);
  return (
    <Card
      title={
        <span className={styles.heading}>
          <Link to="/nodes/$name" params={{ name: node.name }}>
            {node.name}
          </Link>
          <span className="quiet">{node.address}</span>
          {!node.is_schedulable && (
            <span className={styles.tag} data-tone="warn">
              {say.nodes.isDrained(node.drained_by)}
            </span>
          )}
        </span>
      }
      extra={<Drain node={node} />}
    >
      <NodeBars node={node} say={say} />
      {namesEngine && (
        <dl className={styles.facts}>
          <dt>{say.nodes.engine}</dt>
          <dd>{node.engine}</dd>
        </dl>
      )}
      <NodeLimits node={node} />
      {node.gpus.length > 0 && (
        <ul className={styles.gpus} aria-label={say.nodes.cards}>
          {node.gpus.map((gpu) => (
            <GpuLine key={gpu.index} gpu={gpu} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function GpuLine({ gpu }: { gpu: Schemas['GpuBody'] }) {
  const say = useWords(words).nodes;
  const nameOf = useJobNames();
  const use = gpu.job_id !== null ? 'job' : gpu.in_use_by_others ? 'others' : 'free';
  return (
    <li data-use={use}>
      <strong>{gpu.index}</strong> {gpu.type} · {bytes(gpu.memory_bytes)}
      <div>
        {gpu.job_id !== null ? (
          <Link to="/jobs/$jobId" params={{ jobId: gpu.job_id }} title={gpu.job_id}>
            {nameOf(gpu.job_id)}
          </Link>
        ) : use === 'others' ? (
          say.others
        ) : (
          say.free
        )}
      </div>
    </li>
  );
}

function Drain({ node }: { node: Node }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  const changing = useMutation({
    mutationFn: (is_schedulable: boolean) =>
      answer(
        api.PATCH('/api/v1/nodes/{name}', {
          params: { path: { name: node.name } },
          body: { is_schedulable },
        }),
      ),
    onSuccess: ({ name, is_schedulable }) =>
      done(is_schedulable ? say.nodes.opened(name) : say.nodes.drained(name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.platform }),
  });
  const change = (takes: boolean) => {
    if (takes) return changing.mutate(true);
    return modal.confirm({
      title: say.nodes.drainAsk(node.name),
      okText: say.nodes.drain,
      cancelText: say.cancel,
      onOk: () => changing.mutate(false),
    });
  };
  return (
    <span className={styles.heading}>
      <span className="quiet">{say.nodes.takes}</span>
      <Switch
        checked={node.is_schedulable}
        loading={changing.isPending}
        aria-label={say.nodes.takesOf(node.name)}
        onChange={(takes) => void change(takes)}
      />
    </span>
  );
}
