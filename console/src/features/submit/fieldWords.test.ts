import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Path } from './document';
import { FIELD_WORDS, wordKey } from './fieldWords';
import { STORED_ONLY, unplaced, unplacedOfRole } from './layout';
import { SHORT_FIELDS } from './roles';
import { type Field, fieldAt, readSchema } from './schema';

const read = (name: string) =>
  readFileSync(new URL(`../../../../docs/reference/${name}`, import.meta.url), 'utf8');
const root = readSchema(JSON.parse(read('job-schema.json')));

function allPaths(field: Field, path: Path): Path[] {
  if (field.kind === 'list') return allPaths(field.item, [...path, 0]);
  if (field.kind !== 'record') return [];
  return Object.entries(field.fields).flatMap(([name, inner]) => [
    [...path, name],
    ...allPaths(inner, [...path, name]),
  ]);
}

describe('the words of the form', () => {
  const keys = new Set(allPaths(root, []).map(wordKey));

  it('has a label and a help in every language for every field of the schema', () => {
    expect([...keys].filter((key) => !(key in FIELD_WORDS))).toEqual([]);
  });

  it('speaks of no field that is gone', () => {
    expect(Object.keys(FIELD_WORDS).filter((key) => !keys.has(key))).toEqual([]);
  });
});

describe('the layout of the form', () => {
  it('has a place for every field', () => {
    expect(unplaced(root)).toEqual([]);
    const role = fieldAt(root, ['roles', 0]);
    expect(role?.kind === 'record' && unplacedOfRole(role)).toEqual([]);
  });

  it('knows the fields of the short form', () => {
    const job = JSON.parse(read('job-schema.json')).properties as Record<string, { description: string }>;
    const short = Object.entries(job).filter(([, { description }]) =>
      description.endsWith('(A job of one role.)'),
    );
    expect(short.map(([name]) => name).sort()).toEqual([...SHORT_FIELDS].sort());
  });

  it('says of the same fields as the reference that nothing acts on them yet', () => {
    const storedIn = (heading: string, prefix: string) => {
      const table = read('job-file.md').split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
      return [...table.matchAll(/^\| `(\w+)` .*not acted on yet/gm)].map(([, name]) => prefix + name);
    };
    const stored = [...storedIn('Job', ''), ...storedIn('Code', 'code.')];
    expect([...STORED_ONLY].sort()).toEqual(stored.sort());
  });
});
