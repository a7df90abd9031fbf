import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Select } from 'antd';
import { imagesQuery, secretsQuery, storagesQuery, strategiesQuery } from '@/api/platformQueries';
import { nodesQuery, queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { words } from '../words';
import { useMarks } from './Control';
import { type Bound, useForm } from './context';
import styles from './form.module.css';
import { MappingControl } from './MappingControl';

interface Props {
  bound: Bound;
}

/** A name to choose, with what it stands for beside it. */
const choice = (name: string, meaning: string) => ({
  value: name,
  label: (
    <div className={styles.option}>
      <span>{name}</span>
      <span className="quiet">{meaning}</span>
    </div>
  ),
});

const textOf = (bound: Bound) => (typeof bound.value === 'string' ? bound.value : undefined);

/** The queues that one may submit to. */
export function QueueControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { data: queues } = useQuery(queuesQuery);
  const mine = queues?.filter(({ my_role }) => my_role === 'admin' || my_role === 'member') ?? [];
  const preset = typeof bound.field.preset === 'string' ? bound.field.preset : undefined;
  const options = mine.map(({ name, description, is_open }) => ({
    ...choice(name, is_open ? description : say.queueClosed),
    disabled: !is_open,
  }));
  return (
    <Select
      {...marks}
      showSearch={{ optionFilterProp: 'value' }}
      optionLabelProp="value"
      popupMatchSelectWidth={320}
      notFoundContent={queues && say.noQueue}
      placeholder={mine.some(({ name }) => name === preset) ? preset : undefined}
      value={textOf(bound)}
      options={options}
      onChange={(value: string) => bound.set(value)}
    />
  );
}

/** An image of the catalogue, or any reference. */
export function ImageControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { data: images = [] } = useQuery(imagesQuery);
  const options = images.map(({ name, framework, version, description, reference }) =>
    choice(name, description || [framework, version].filter(Boolean).join(' ') || reference),
  );
  return (
    <AutoComplete
      {...marks}
      allowClear
      placeholder={say.noImage}
      value={textOf(bound)}
      options={options}
      showSearch={{ filterOption: (typed, option) => String(option?.value ?? '').includes(typed) }}
      onChange={(value: string | undefined) => bound.set(value || undefined)}
    />
  );
}

function useQueueName(): string {
  const { doc } = useForm();
  return typeof doc.queue === 'string' ? doc.queue : 'default';
}

/** The storages that this job may use, and the one that every job has. */
export function StorageControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const queue = useQueueName();
  const { data: storages = [] } = useQuery(storagesQuery);
  const usable = storages.filter(({ queues }) => queues.length === 0 || queues.includes(queue));
  const own = bound.path[0] === 'data' ? [{ name: 'job', description: say.ownFolders }] : [];
  const options = [...usable, ...own].map(({ name, description }) => choice(name, description));
  return (
    <AutoComplete
      {...marks}
      allowClear
      value={textOf(bound)}
      options={options}
      popupMatchSelectWidth={320}
      onChange={(value: string | undefined) => bound.set(value || undefined)}
    />
  );
}

/** The secrets of one kind that this job may use. */
function useSecretNames(kind: 'value' | 'registry'): string[] {
  const queue = useQueueName();
  const { data: secrets = [] } = useQuery(secretsQuery);
  const usable = secrets.filter((one) => one.kind === kind && (one.queue === null || one.queue === queue));
  return [...new Set(usable.map(({ name }) => name))];
}

export function LoginControl({ bound }: Props) {
  const marks = useMarks(bound);
  const names = useSecretNames('registry');
  return (
    <AutoComplete
      {...marks}
      allowClear
      value={textOf(bound)}
      options={names.map((value) => ({ value }))}
      onChange={(value: string | undefined) => bound.set(value || undefined)}
    />
  );
}

export function SecretsControl({ bound }: Props) {
  return <MappingControl bound={bound} options={useSecretNames('value')} />;
}

export function StrategyControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { data: strategies = [] } = useQuery(strategiesQuery);
  const options = strategies.map(({ name, description }) => choice(name, description));
  return (
    <Select
      {...marks}
      allowClear
      optionLabelProp="value"
      popupMatchSelectWidth={480}
      placeholder={say.strategyNone}
      value={textOf(bound) || undefined}
      options={options}
      onChange={(value: string | undefined) => bound.set(value)}
    />
  );
}

/** The types of cards that there are. */
export function GpuTypeControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { data: nodes = [] } = useQuery(nodesQuery);
  const types = new Set(nodes.flatMap(({ gpus }) => gpus.map(({ type }) => type)).filter(Boolean));
  return (
    <AutoComplete
      {...marks}
      allowClear
      placeholder={say.anyGpu}
      value={textOf(bound)}
      options={[...types].map((value) => ({ value }))}
      onChange={(value: string | undefined) => bound.set(value || undefined)}
    />
  );
}
