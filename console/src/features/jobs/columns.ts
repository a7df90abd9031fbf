import { useState } from 'react';
import type { Job } from '@/api/client';
import { recall, remember } from '@/app/memory';

/** What a list may show beside name and state, in this order. */
export const COLUMNS = [
  'queue',
  'owner',
  'id',
  'tags',
  'resources',
  'priority',
  'submitted',
  'ended',
  'runTime',
  'progress',
  'metric',
] as const;
export type ColumnName = (typeof COLUMNS)[number];

const DEFAULT: readonly ColumnName[] = ['resources', 'submitted', 'runTime'];
const KEY = 'footplate.columns';

function kept(): ColumnName[] {
  const names = recall(KEY)?.split(',');
  return names ? COLUMNS.filter((name) => names.includes(name)) : [...DEFAULT];
}

/** The columns that somebody chose, and a way to choose others. */
export function useColumns(): [ColumnName[], (chosen: ColumnName[]) => void] {
  const [chosen, setChosen] = useState(kept);
  const choose = (names: ColumnName[]) => {
    remember(KEY, names.join(','));
    setChosen(COLUMNS.filter((name) => names.includes(name)));
  };
  return [chosen, choose];
}

/** A priority is worth a column as soon as some job has one. */
export function shownColumns(chosen: readonly ColumnName[], jobs: readonly Job[]): ColumnName[] {
  const hasPriority = jobs.some(({ priority }) => priority !== 0);
  return COLUMNS.filter((name) => chosen.includes(name) || (name === 'priority' && hasPriority));
}
