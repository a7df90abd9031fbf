import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import type { Schemas } from '@/api/client';
import { nodesQuery, summaryQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Card } from '@/ui/Page';
import { QueueBars } from '@/ui/QueueBars';
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
        <QueueBars queue={queue} nodes={nodes} />
      </div>
    </div>
  );
}
