import type { Schemas } from '@/api/client';

type Node = Pick<Schemas['NodeBody'], 'name' | 'cpus' | 'memory_bytes' | 'gpus' | 'free' | 'is_schedulable'>;
type Queue = Pick<Schemas['QueueBody'], 'nodes' | 'maximum' | 'used'>;

interface Part {
  free: number;
  all: number;
}

export interface Free {
  cards: (Part & { type: string })[];
  cpus: Part;
  memory_bytes: Part;
  /** What the node with the most cards, then CPUs, has in all. */
  largest: Schemas['Amount'] | undefined;
}

/** What is free on the nodes that a queue's jobs may use. */
export function freeOf(nodes: readonly Node[], queue: Queue): Free {
  const own = nodes.filter(
    ({ name, is_schedulable }) => is_schedulable && (queue.nodes.length === 0 || queue.nodes.includes(name)),
  );
  const sum = (of: (node: Node) => number) => own.reduce((total, node) => total + of(node), 0);
  const types = [...new Set(own.flatMap(({ gpus }) => gpus.map(({ type }) => type)))];
  const cards = own.flatMap(({ gpus }) => gpus);
  const [first] = own.toSorted((one, other) => other.gpus.length - one.gpus.length || other.cpus - one.cpus);
  return {
    cards: types.map((type) => {
      const same = cards.filter((card) => card.type === type);
      const free = same.filter((card) => card.job_id === null && !card.in_use_by_others);
      return { type, free: free.length, all: same.length };
    }),
    cpus: { free: sum(({ free }) => free.cpus ?? 0), all: sum(({ cpus }) => cpus) },
    memory_bytes: {
      free: sum(({ free }) => free.memory_bytes ?? 0),
      all: sum(({ memory_bytes }) => memory_bytes),
    },
    largest: first && { cpus: first.cpus, memory_bytes: first.memory_bytes, gpus: first.gpus.length },
  };
}

/** What a queue may still use of its maximum; undefined where it has none. */
export function roomOf({ maximum, used }: Queue): Partial<Schemas['Amount']> | undefined {
  const names = ['cpus', 'memory_bytes', 'gpus'] as const;
  const bound = names.filter((name) => maximum?.[name] !== null && maximum?.[name] !== undefined);
  if (bound.length === 0) return undefined;
  return Object.fromEntries(
    bound.map((name) => [name, Math.max(0, (maximum?.[name] ?? 0) - (used[name] ?? 0))]),
  );
}
