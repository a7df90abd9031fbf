import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import type { Schemas } from '@/api/client';
import { nodesQuery, summaryQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytesOf } from '@/ui/amounts';
import { Card } from '@/ui/Page';
import { UseBar } from '@/ui/UseBar';
import styles from './dashboard.module.css';
import { words } from './words';

type Queue = Schemas['QueueBody'];
type Node = Schemas['NodeBody'];

/** Each queue with what its jobs hold, beside what they may. */
export function QueuesCard() {
  const say = useWords(words);
  const { data: summary } = useQuery(summaryQuery);
  const { data: nodes } = useQuery(nodesQuery);
  return (
    <Card title={say.queues} isFlush>
      {(!summary || !nodes) && <Skeleton active className={styles.skeleton} title={false} />}
      {nodes && summary?.queues.map((queue) => <QueueLine key={queue.name} queue={queue} nodes={nodes} />)}
    </Card>
  );
}

function QueueLine({ queue, nodes }: { queue: Queue; nodes: readonly Node[] }) {
  const say = useWords(words);
  const { used } = queue;
  const most = reach(queue, nodes);
  return (
    <div className={styles.block}>
      <div className={styles.blockHead}>
        <Link to="/jobs" search={{ queue: [queue.name] }}>
          {queue.name}
        </Link>
        <span className="quiet">
          {say.runningIn(queue.n_running)} · {say.waitingIn(queue.n_waiting)}
          {!queue.is_open && ` · ${say.closed}`}
        </span>
      </div>
      <div className={styles.bars}>
        <UseBar label={say.cpus} used={used.cpus ?? 0} total={most.cpus} />
        <UseBar label={say.memory} used={used.memory_bytes ?? 0} total={most.memory_bytes} show={bytesOf} />
        {most.gpus > 0 && <UseBar label={say.gpus} used={used.gpus ?? 0} total={most.gpus} />}
      </div>
    </div>
  );
}

/** The most that a queue's jobs can hold: its cap, or all of its nodes where it has none. */
export function reach(queue: Queue, nodes: readonly Node[]) {
  const own = nodes.filter((node) => queue.nodes.length === 0 || queue.nodes.includes(node.name));
  const sum = (of: (node: Node) => number) => own.reduce((total, node) => total + of(node), 0);
  const capped = (cap: number | null | undefined, all: number) => Math.min(cap ?? all, all);
  return {
    cpus: capped(
      queue.maximum?.cpus,
      sum((node) => node.cpus),
    ),
    memory_bytes: capped(
      queue.maximum?.memory_bytes,
      sum((node) => node.memory_bytes),
    ),
    gpus: capped(
      queue.maximum?.gpus,
      sum((node) => node.gpus.length),
    ),
  };
}
