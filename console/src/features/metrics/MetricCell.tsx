import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { recall, remember } from '@/app/memory';
import { useWords } from '@/i18n/language';
import { short } from './curves';
import { latestQuery } from './queries';
import { words } from './words';

const KEY = 'footplate.metricColumn';
const NAME = 'loss';

/** The metric that the list of jobs shows. */
export const chosenMetric = () => recall(KEY) ?? NAME;

/** The newest value of the chosen metric, one question for all jobs of the list. */
export function MetricCell({ job, jobs }: { job: string; jobs: readonly string[] }) {
  const { data } = useQuery(latestQuery(jobs, [chosenMetric()]));
  const value = data?.find(({ id }) => id === job)?.items[0]?.last?.value;
  return <td className="number">{value === undefined || value === null ? '' : short(value)}</td>;
}

/** Which metric it is: one of those that the jobs of the list tell. */
export function MetricChoice({ jobs }: { jobs: readonly string[] }) {
  const say = useWords(words);
  const { data } = useQuery(latestQuery(jobs));
  const [chosen, setChosen] = useState(chosenMetric);
  const names = [...new Set(data?.flatMap(({ items }) => items.map(({ name }) => name)))].sort();
  return (
    <Select
      variant="borderless"
      size="small"
      showSearch
      popupMatchSelectWidth={false}
      aria-label={say.metric}
      value={chosen}
      onChange={(name) => {
        remember(KEY, name);
        setChosen(name);
      }}
      options={[...new Set([chosen, ...names])].map((value) => ({ value, label: value }))}
    />
  );
}
