import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useSyncExternalStore } from 'react';
import { recall, remember } from '@/app/memory';
import { useWords } from '@/i18n/language';
import { short } from './curves';
import { latestQuery } from './queries';
import { words } from './words';

const KEY = 'footplate.metricColumn';
const NAME = 'loss';

const REFRESH_MS = 10_000;

const listeners = new Set<() => void>();
const chosenMetric = () => recall(KEY) ?? NAME;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function choose(name: string): void {
  remember(KEY, name);
  for (const tell of listeners) tell();
}

/** The metric that the list of jobs shows, in its heading and in all of its rows. */
const useChosenMetric = () => useSyncExternalStore(subscribe, chosenMetric);

/** The newest value of the chosen metric, one question for all jobs of the list. */
export function MetricCell({ job, jobs }: { job: string; jobs: readonly string[] }) {
  const { data } = useQuery(latestQuery(jobs, [useChosenMetric()]));
  const value = data?.find(({ id }) => id === job)?.items[0]?.last?.value;
  return <td className="number">{value === undefined || value === null ? '' : short(value)}</td>;
}

/** Which metric it is: one of those that the jobs of the list tell. */
export function MetricChoice({ jobs }: { jobs: readonly string[] }) {
  const say = useWords(words);
  const { data } = useQuery(latestQuery(jobs));
  const chosen = useChosenMetric();
  // For all rows, whose jobs go on.
  useQuery({ ...latestQuery(jobs, [chosen]), refetchInterval: REFRESH_MS });
  const names = [...new Set(data?.flatMap(({ items }) => items.map(({ name }) => name)))].sort();
  return (
    <Select
      variant="borderless"
      size="small"
      showSearch
      popupMatchSelectWidth={false}
      aria-label={say.metric}
      value={chosen}
      onChange={choose}
      options={[...new Set([chosen, ...names])].map((value) => ({ value, label: value }))}
    />
  );
}
