import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes, bytesOf } from './amounts';
import { UseBar } from './UseBar';
import { words } from './words';

type Queue = Pick<Schemas['QueueBody'], 'nodes' | 'maximum' | 'share' | 'used'>;
type Node = Pick<Schemas['NodeBody'], 'name' | 'cpus' | 'memory_bytes' | 'gpus'>;

/** What the jobs of a queue hold, beside what they may; where it has a share, also that and what is borrowed. */
export function QueueBars({ queue, nodes }: { queue: Queue; nodes: readonly Node[] }) {
  const say = useWords(words);
  const { used, share } = queue;
  const most = reach(queue, nodes);
  const hasShare = [share.cpus, share.memory_bytes, share.gpus].some(Boolean);
  const shareOf = (amount: number | undefined) => (hasShare ? (amount ?? 0) : undefined);
  const gpus = used.gpus ?? 0;
  return (
    <>
      <UseBar label={say.cpusLabel} used={used.cpus ?? 0} total={most.cpus} share={shareOf(share.cpus)} />
      <UseBar
        label={say.memoryLabel}
        used={used.memory_bytes ?? 0}
        total={most.memory_bytes}
        share={shareOf(share.memory_bytes)}
        show={bytesOf}
        showOne={bytes}
      />
      {(most.gpus > 0 || gpus > 0) && (
        <UseBar label={say.gpusLabel} used={gpus} total={most.gpus} share={shareOf(share.gpus)} />
      )}
    </>
  );
}

/** The most that a queue's jobs can hold: its cap, or all of its nodes where it has none. */
export function reach(queue: Pick<Queue, 'nodes' | 'maximum'>, nodes: readonly Node[]) {
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
