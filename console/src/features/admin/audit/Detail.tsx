import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { words as uiWords } from '@/ui/words';
import styles from '../admin.module.css';
import { words } from '../words';

type Facts = Schemas['AuditBody']['detail'];
/** What a value was and became; null where nobody may read it. */
type Change = readonly [unknown, unknown] | null;

/** Names that people gave are told as they are. */
const GIVEN = new Set(['queue', 'reference', 'name', 'owner', 'description']);

/** The facts of a change: each value that changed with what it was before. */
export function Detail({ detail: { changes = {}, ...facts } }: { detail: Facts }) {
  const say = useWords(words).audit;
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
  const { details, nothing, unlimited } = useWords(words).audit;
  const amount = useAmount();
  const told = (field: string, value: unknown): string => {
    if (value === null || value === undefined) return field === 'maximum' ? unlimited : nothing;
    if (Array.isArray(value)) return value.map((one) => told(field, one)).join(', ') || nothing;
    if (typeof value === 'object') return amount(value as Schemas['Amount']);
    if (GIVEN.has(field)) return value === '' ? nothing : String(value);
    return details[String(value)] ?? String(value);
  };
  return told;
}
