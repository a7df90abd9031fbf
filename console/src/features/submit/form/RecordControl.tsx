import { Button, Switch } from 'antd';
import { useWords } from '@/i18n/language';
import { isMapping, type Json, type Mapping, type Path } from '../document';
import { type Field, shorthandOf } from '../schema';
import { words } from '../words';
import { type Bound, useForm } from './context';
import { Entries, RemoveEntry } from './Entries';
import { FieldRow } from './FieldRow';
import styles from './form.module.css';

/** Fields within a field; one that may be absent is switched on first. */
export function RecordControl({ bound }: { bound: Bound }) {
  const say = useWords(words);
  const { isDisabled } = useForm();
  if (bound.field.kind !== 'record') return null;
  const isOn = bound.value !== undefined && bound.value !== null;
  return (
    <div className={styles.record} id={bound.id} tabIndex={-1}>
      <Switch
        size="small"
        disabled={isDisabled}
        checked={isOn}
        aria-label={say.use(bound.label)}
        onChange={(checked) => bound.set(checked ? begun(bound.field) : undefined)}
      />
      {isOn && (
        <div className={styles.inner}>
          <Fields path={bound.path} field={bound.field} value={bound.value} />
        </div>
      )}
    </div>
  );
}

/** A list of records: a card each, added and removed one by one. */
export function RecordListControl({ bound }: { bound: Bound }) {
  if (bound.field.kind !== 'list') return null;
  const { item } = bound.field;
  const items = Array.isArray(bound.value) ? bound.value : [];
  const set = (next: Json[]) => bound.set(next.length === 0 ? undefined : next);
  return (
    <Entries bound={bound} onAdd={() => set([...items, begun(item)])}>
      {items.map((value, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: entries have nothing else to tell them apart
        <div key={index} className={styles.card}>
          <Fields path={[...bound.path, index]} field={item} value={value} />
          <RemoveEntry
            className={styles.removeCard}
            name={`${bound.label} ${index + 1}`}
            onRemove={() => set(items.filter((_item, other) => other !== index))}
          />
        </div>
      ))}
    </Entries>
  );
}

interface FieldsProps {
  path: Path;
  field: Field;
  value: Json | undefined;
}

function Fields({ path, field, value }: FieldsProps) {
  const say = useWords(words);
  const { change } = useForm();
  if (field.kind !== 'record') return null;
  const shorthand = shorthandOf(field);
  if (!isMapping(value) && shorthand && value !== undefined) {
    return (
      <div className={styles.short}>
        <code>{Array.isArray(value) ? value.join(', ') : String(value)}</code>
        <Button size="small" onClick={() => change(path, { [shorthand]: value })}>
          {say.details}
        </Button>
      </div>
    );
  }
  return (
    <div className={`${styles.grid} ${styles.narrow}`}>
      {Object.keys(field.fields).map((name) => (
        <FieldRow key={name} path={[...path, name]} />
      ))}
    </div>
  );
}

/** A new record: choices that must be made begin with their first option. */
function begun(field: Field): Mapping {
  if (field.kind !== 'record') return {};
  const filled = field.required.flatMap((name): [string, Json][] => {
    const inner = field.fields[name];
    return inner?.kind === 'choice' ? [[name, inner.options[0] ?? '']] : [];
  });
  return Object.fromEntries(filled);
}
