import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { nodesQuery, queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes, number, useAmount } from '@/ui/amounts';
import { words as uiWords } from '@/ui/words';
import { freeOf, roomOf } from '../free';
import { words } from '../words';
import { useForm } from './context';
import styles from './form.module.css';

type Queue = Schemas['QueueBody'];

/** What is free where the job may run, and what its queue may still use: beside the fields that ask for it. */
export function FreeNow() {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const { doc } = useForm();
  const { data: nodes } = useQuery(nodesQuery);
  const { data: queues } = useQuery(queuesQuery);
  const queue = queues?.find(({ name }) => name === (doc.queue ?? 'default'));
  if (!nodes || !queue) return null;
  const { cards, cpus, memory_bytes, largest } = freeOf(nodes, queue);
  const parts = [
    ...cards.map(({ type, free, all }) => `${say.freeOf(number(free), number(all))} ${type || 'GPU'}`),
    say.freeOf(number(cpus.free), ui.cpus(number(cpus.all))),
    say.freeOf(bytes(memory_bytes.free), bytes(memory_bytes.all)),
  ];
  return (
    <div className={styles.free}>
      <strong>{say.freeNow}</strong>
      {parts.map((part) => (
        <span key={part}>{part}</span>
      ))}
      {largest && nodes.length > 1 && <Largest amount={largest} />}
      <Room queue={queue} />
    </div>
  );
}

function Largest({ amount: most }: { amount: Schemas['Amount'] }) {
  const say = useWords(words);
  const amount = useAmount();
  return <span>{say.largestNode(amount(most))}</span>;
}

/** What is left of the queue's own maximum, where it has one. */
function Room({ queue }: { queue: Queue }) {
  const say = useWords(words);
  const amount = useAmount();
  const room = roomOf(queue);
  if (!room) return null;
  const isFull = Object.values(room).some((left) => left === 0);
  return (
    <span>
      {isFull
        ? say.queueFull(queue.name)
        : say.queueLeft(queue.name, amount({ cpus: 0, memory_bytes: 0, gpus: 0, ...room }))}
    </span>
  );
}
