import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Skeleton, Tooltip } from 'antd';
import type { Schemas } from '@/api/client';
import { nodesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytesOf } from '@/ui/amounts';
import { useJobNames } from '@/ui/jobNames';
import { Card, Nothing } from '@/ui/Page';
import { UseBar } from '@/ui/UseBar';
import { words as uiWords } from '@/ui/words';
import styles from './dashboard.module.css';
import { words } from './words';

type Node = Schemas['NodeBody'];
type Gpu = Schemas['GpuBody'];

/** Each machine with what is taken of it, down to the single card. */
export function NodesCard() {
  const say = useWords(words);
  const { data: nodes } = useQuery(nodesQuery);
  return (
    <Card title={say.nodes} isFlush>
      {!nodes && <Skeleton active className={styles.skeleton} title={false} />}
      {nodes?.length === 0 && <Nothing title={say.noNodes} hint={say.noNodesHint} />}
      {nodes?.map((node) => (
        <NodeBlock key={node.name} node={node} />
      ))}
    </Card>
  );
}

function NodeBlock({ node }: { node: Node }) {
  const say = useWords(words);
  const usedCpus = node.cpus - (node.free.cpus ?? 0);
  const usedBytes = node.memory_bytes - (node.free.memory_bytes ?? 0);
  return (
    <div className={styles.block}>
      <div className={styles.blockHead}>
        <Link to="/nodes/$name" params={{ name: node.name }}>
          <strong>{node.name}</strong>
        </Link>
        <span className="quiet">
          {node.address}
          {!node.is_schedulable && ` · ${say.drained}`}
        </span>
      </div>
      <div className={styles.bars}>
        <UseBar label={say.cpus} used={usedCpus} total={node.cpus} />
        <UseBar label={say.memory} used={usedBytes} total={node.memory_bytes} show={bytesOf} />
        {node.gpus.length > 0 && (
          <UseBar label={say.gpus} used={node.gpus.length - (node.free.gpus ?? 0)} total={node.gpus.length} />
        )}
      </div>
      {node.gpus.length > 0 && (
        <ul className={styles.cards}>
          {node.gpus.map((gpu) => (
            <li key={gpu.index}>
              <Cell gpu={gpu} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** One card: free, a job's, or somebody else's. */
function Cell({ gpu }: { gpu: Gpu }) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const nameOf = useJobNames();
  const holder =
    gpu.job_id !== null
      ? say.cardOfJob(nameOf(gpu.job_id))
      : gpu.in_use_by_others
        ? say.cardOfOthers
        : say.cardFree;
  const label = ui.place(say.card(gpu.index, gpu.type), holder);
  const text = <span className={styles.cellText}>{gpu.index}</span>;
  return (
    <Tooltip title={label}>
      {gpu.job_id !== null ? (
        <Link
          to="/jobs/$jobId"
          params={{ jobId: gpu.job_id }}
          className={styles.cell}
          data-use="job"
          aria-label={label}
        >
          {text}
        </Link>
      ) : (
        <span
          className={styles.cell}
          data-use={gpu.in_use_by_others ? 'others' : 'free'}
          role="img"
          aria-label={label}
        >
          {text}
        </span>
      )}
    </Tooltip>
  );
}
