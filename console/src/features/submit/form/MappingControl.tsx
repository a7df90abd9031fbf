import { AutoComplete, Input } from 'antd';
import { useState } from 'react';
import { useWords } from '@/i18n/language';
import { isMapping, isSame, type Json, type Mapping } from '../document';
import { words } from '../words';
import { type Bound, useForm } from './context';
import { Entries, RemoveEntry } from './Entries';
import styles from './form.module.css';

interface Row {
  id: number;
  name: string;
  value: string;
}

let lastId = 0;

const asRows = (value: Json | undefined): Row[] =>
  Object.entries(isMapping(value) ? value : {}).map(([name, inner]) => ({
    id: ++lastId,
    name,
    value: typeof inner === 'object' ? JSON.stringify(inner) : String(inner),
  }));

interface MappingControlProps {
  bound: Bound;
  /** What a value may be chosen from. */
  options?: readonly string[];
}

/** Names with values, a line each; lines without a name stay here until they have one. */
export function MappingControl({ bound, options }: MappingControlProps) {
  const say = useWords(words);
  const { isDisabled, problems } = useForm();
  const isText = bound.path.at(-1) !== 'parameters';
  const read = (text: string): Json => (isText ? text : scalarOf(text));
  const before = isMapping(bound.value) ? bound.value : {};
  const [rows, setRows] = useState<Row[]>(() => asRows(bound.value));
  const current = isSame(asMapping(rows, read, before), before) ? rows : asRows(bound.value);
  const set = (next: Row[]) => {
    setRows(next);
    const mapping = asMapping(next, read, before);
    bound.set(Object.keys(mapping).length === 0 ? undefined : mapping);
  };
  const edit = (id: number, part: Partial<Row>) =>
    set(current.map((row) => (row.id === id ? { ...row, ...part } : row)));
  return (
    <Entries bound={bound} onAdd={() => set([...current, { id: ++lastId, name: '', value: '' }])}>
      {current.map((row, index) => {
        const isTwice = row.name !== '' && current.findIndex(({ name }) => name === row.name) < index;
        const fault = isTwice ? say.twice(row.name) : faultOf(bound, row.name, problems);
        return (
          <div key={row.id} className={styles.pair}>
            <Input
              className={styles.code}
              disabled={isDisabled}
              status={fault ? 'error' : undefined}
              aria-label={say.nameOf(bound.label, index + 1)}
              aria-invalid={fault ? true : undefined}
              placeholder="NAME"
              value={row.name}
              onChange={(event) => edit(row.id, { name: event.target.value })}
            />
            <AutoComplete
              disabled={isDisabled}
              aria-label={say.valueOf(bound.label, index + 1)}
              placeholder={say.value}
              options={options?.map((value) => ({ value }))}
              showSearch={{ filterOption: true }}
              value={row.value}
              onChange={(value: string) => edit(row.id, { value })}
            />
            <RemoveEntry
              name={row.name || String(index + 1)}
              onRemove={() => set(current.filter(({ id }) => id !== row.id))}
            />
            {fault && (
              <div className={styles.fault} role="alert">
                {fault}
              </div>
            )}
          </div>
        );
      })}
    </Entries>
  );
}

function faultOf(bound: Bound, name: string, problems: ReadonlyMap<string, { message: string }>) {
  return problems.get(`${String(bound.path.join('.'))}.${name}`)?.message;
}

/** What the lines say; a value that was not typed over keeps the kind it had. */
function asMapping(rows: readonly Row[], read: (text: string) => Json, before: Mapping): Mapping {
  const mapping: Mapping = {};
  for (const { name, value } of rows) {
    if (name === '' || Object.hasOwn(mapping, name)) continue;
    const kept = Object.hasOwn(before, name) ? before[name] : undefined;
    const isUntouched = kept !== undefined && typeof kept !== 'object' && String(kept) === value;
    mapping[name] = isUntouched ? kept : read(value);
  }
  return mapping;
}

/** Numbers and yes/no values where they are written exactly so, texts otherwise. */
function scalarOf(text: string): Json {
  if (text === 'true' || text === 'false') return text === 'true';
  const number = Number(text);
  return text !== '' && String(number) === text && Number.isFinite(number) ? number : text;
}
