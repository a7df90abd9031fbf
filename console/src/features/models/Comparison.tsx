import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card } from '@/ui/Page';
import styles from './models.module.css';
import { comparisonQuery } from './queries';
import { words } from './words';

interface Line {
  key: string;
  name: string;
  /** Parameters and metrics may have the same name. */
  kind: string | undefined;
  first: string;
  second: string;
}

/** What two versions of a model differ in. */
export function Comparison({ model }: { model: Schemas['ModelDetail'] }) {
  const say = useWords(words);
  const [newest, before] = model.versions;
  const [first, setFirst] = useState(String(before?.number));
  const [second, setSecond] = useState(String(newest?.number));
  const { data, error } = useQuery(comparisonQuery(model.id, first, second));
  const lines = data ? linesOf(data, say) : [];
  const options = model.versions.map(({ number }) => ({ value: String(number), label: String(number) }));
  const columns: Column<Line>[] = [
    {
      key: 'name',
      title: say.name,
      cell: ({ name, kind }) => (
        <>
          {name} {kind && <span className="quiet">{kind}</span>}
        </>
      ),
    },
    { key: 'first', title: `${say.version} ${first}`, cell: (one) => one.first },
    { key: 'second', title: `${say.version} ${second}`, isWide: true, cell: (one) => one.second },
  ];
  return (
    <Card title={say.compare}>
      <div className={styles.tools}>
        <Select aria-label={say.first} value={first} options={options} onChange={setFirst} />
        {say.with}
        <Select aria-label={say.second} value={second} options={options} onChange={setSecond} />
      </div>
      {error && <Failure error={error} />}
      {data && (
        <>
          {lines.length === 0 && <p>{say.same}</p>}
          {lines.length > 0 && (
            <DataTable label={say.compare} columns={columns} rows={lines} rowKey={({ key }) => key} />
          )}
          <p className="quiet">{say.sameFiles(data.n_same_files)}</p>
        </>
      )}
    </Card>
  );
}

function linesOf(found: Schemas['ComparisonBody'], say: (typeof words)['en']): Line[] {
  const { origin: firstOrigin } = found.first;
  const { origin: secondOrigin } = found.second;
  const fields = Object.entries(found.fields).map(([key, { first, second }]) => ({
    key,
    name: say.ofFields[key] ?? key,
    kind: undefined,
    // People know jobs by their names.
    first: key === 'job' ? firstOrigin.job_name || '–' : shown(first),
    second: key === 'job' ? secondOrigin.job_name || '–' : shown(second),
  }));
  const rest = (['parameters', 'metrics', 'files'] as const).flatMap((part) =>
    Object.entries(found[part]).map(([name, { first, second }]) => ({
      key: `${part} ${name}`,
      name,
      kind: say.kinds[part],
      first: shown(first),
      second: shown(second),
    })),
  );
  return [...fields, ...rest];
}

function shown(value: unknown): string {
  if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return '–';
  if (typeof value === 'number') return String(Number(value.toPrecision(6)));
  if (typeof value === 'object' && 'sha256' in value) return String(value.sha256).slice(0, 12);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
