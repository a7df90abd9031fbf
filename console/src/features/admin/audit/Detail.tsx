import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes, useAmount } from '@/ui/amounts';
import { words as uiWords } from '@/ui/words';
import styles from '../admin.module.css';
import { words } from './words';

type Facts = Schemas['AuditBody']['detail'];
/** What a value was and became; null where nobody may read it. */
type Change = readonly [unknown, unknown] | null;

/** Names that people gave are told as they are. */
const GIVEN = new Set(['queue', 'reference', 'name', 'owner', 'description']);

/** The facts of a change: each value that changed with what it was before. */
export function Detail({ detail: { changes = {}, ...facts } }: { detail: Facts }) {
  const say = useWords(words);
  const { place } = useWords(uiWords);
  const told = useValue();
  const name = (field: string) => say.details[field] ?? field;
  const lines = [
    ...Object.entries(facts)
      .filter(([, value]) => value !== '' && value !== null)
      .map(([field, value]) => place(name(field), told(field, value))),
    ...Object.entries(changes as Record<string, Change>).map(([field, change]) =>
      place(name(field), change ? say.became(told(field, change[0]), told(field, change[1])) : say.hidden),
    ),
  ];
  return <span className={styles.detail}>{lines.join(' · ') || '–'}</span>;
}

function useValue() {
  const { details, nothing, unlimited } = useWords(words);
  const amount = useAmount();
  const told = (field: string, value: unknown): string => {
    if (value === null || value === undefined) return field === 'maximum' ? unlimited : nothing;
    if (value === '') return nothing;
    if (Array.isArray(value)) return value.map((one) => told(field, one)).join(', ') || nothing;
    if (typeof value === 'object')
      return isAmount(value) ? amount(bounded(value)) || nothing : Object.values(value).flat().join(', ');
    if (field === 'milli_cpus') return String(Number(value) / 1000);
    if (field.endsWith('_bytes')) return bytes(Number(value));
    if (GIVEN.has(field)) return String(value);
    return details[String(value)] ?? String(value);
  };
  return told;
}

const isAmount = (value: object): value is Schemas['Amount'] => 'cpus' in value;

/** What is not bounded is kept as a number beyond all machines. */
const BEYOND = 9e12;

const bounded = ({ cpus, memory_bytes, gpus }: Schemas['Amount']): Schemas['Amount'] => ({
  cpus: cpus < BEYOND ? cpus : 0,
  memory_bytes: memory_bytes < BEYOND * 1000 ? memory_bytes : 0,
  gpus: gpus < BEYOND ? gpus : 0,
});
