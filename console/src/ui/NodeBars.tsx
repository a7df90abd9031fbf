import type { Schemas } from '@/api/client';
import { bytesOf } from './amounts';
import { UseBar } from './UseBar';
import styles from './usebar.module.css';

type Node = Pick<Schemas['NodeBody'], 'cpus' | 'memory_bytes' | 'gpus' | 'free'>;

interface NodeBarsProps {
  node: Node;
  say: { cpus: string; memory: string; gpus: string };
}

/** What jobs hold of a machine, used or not. */
export function NodeBars({ node: { cpus, memory_bytes, gpus, free }, say }: NodeBarsProps) {
  return (
    <div className={styles.bars}>
      <UseBar label={say.cpus} used={cpus - (free.cpus ?? 0)} total={cpus} />
      <UseBar
        label={say.memory}
        used={memory_bytes - (free.memory_bytes ?? 0)}
        total={memory_bytes}
        show={bytesOf}
      />
      {gpus.length > 0 && (
        <UseBar label={say.gpus} used={gpus.length - (free.gpus ?? 0)} total={gpus.length} />
      )}
    </div>
  );
}
