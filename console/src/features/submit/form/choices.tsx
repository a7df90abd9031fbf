import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Select } from 'antd';
import type { Schemas } from '@/api/client';
import {
  frameworksQuery,
  imagesQuery,
  secretsQuery,
  storagesQuery,
  strategiesQuery,
  typesQuery,
} from '@/api/platformQueries';
import { nodesQuery, queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useSize } from '@/ui/amounts';
import { type Mapping, type Path, valueAt, withValue } from '../document';
import { OF_A_TYPE } from '../layout';
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
  const offered = useFramework()?.strategies ?? [];
  const usable = strategies.filter(({ name }) => offered.length === 0 || offered.includes(name));
  const options = usable.map(({ name, description }) => choice(name, description));
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

/** The framework of the job: by its name and version, or the default version of its name. */
function useFramework(): Schemas['FrameworkBody'] | undefined {
  const { doc } = useForm();
  const { data: frameworks = [] } = useQuery(frameworksQuery);
  return frameworks.find(
    ({ name, version, is_default }) =>
      doc.framework === `${name}:${version}` || (is_default && doc.framework === name),
  );
}

/** A framework of the catalogue, with its version. */
export function FrameworkControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { data: frameworks = [] } = useQuery(frameworksQuery);
  const options = frameworks.map(({ name, version, description, image, strategies }) =>
    choice(`${name}:${version}`, description || image || strategies.join(', ')),
  );
  return (
    <Select
      {...marks}
      allowClear
      showSearch={{ optionFilterProp: 'value' }}
      optionLabelProp="value"
      popupMatchSelectWidth={420}
      placeholder={say.noFramework}
      value={textOf(bound) || undefined}
      options={options}
      onChange={(value: string | undefined) => bound.set(value)}
    />
  );
}

/** The instance types, counted for the job's queue where the reader may see that. */
function useTypes(): readonly Type[] {
  const queue = useQueueName();
  const { data: queues } = useQuery(queuesQuery);
  const isSeen = queues?.some(({ name }) => name === queue);
  const { data } = useQuery({ ...typesQuery(isSeen ? queue : undefined), enabled: queues !== undefined });
  return data?.items ?? NO_TYPES;
}

const NO_TYPES: readonly Type[] = [];

/** Whether anybody could fill in a field: the platform offers something, or the document has a value. */
export function useIsOffered(): (path: Path) => boolean {
  const { doc } = useForm();
  const types = useTypes();
  const { data: frameworks = [] } = useQuery(frameworksQuery);
  return (path) => {
    if (valueAt(doc, path) !== undefined) return true;
    const name = path.at(-1);
    if (name === 'type') return types.length > 0;
    return name !== 'framework' || frameworks.length > 0;
  };
}

/** A size that admins offer; it takes the place of amounts, which go when it comes. */
export function TypeControl({ bound }: Props) {
  const say = useWords(words);
  const marks = useMarks(bound);
  const { doc, replace } = useForm();
  const types = useTypes();
  const tell = useSize();
  const options = types.map((type) => ({
    ...choice(type.name, [tell(type), fitText(type, say)].filter(Boolean).join(' · ')),
    disabled: type.fit_at_most === 0,
  }));
  const chosen = types.find(({ name }) => name === bound.value);
  const choose = (value: string | undefined) => {
    const role = bound.path.slice(0, -1);
    const plain = value === undefined ? [] : [...OF_A_TYPE].map((name) => [...role, name]);
    replace(
      plain.reduce<Mapping>(
        (found, path) => withValue(found, path, undefined) as Mapping,
        withValue(doc, bound.path, value) as Mapping,
      ),
    );
  };
  return (
    <div>
      <Select
        {...marks}
        allowClear
        showSearch={{ optionFilterProp: 'value' }}
        optionLabelProp="value"
        popupMatchSelectWidth={480}
        placeholder={say.noType}
        value={textOf(bound) || undefined}
        options={options}
        onChange={choose}
      />
      {chosen && (
        <div className="quiet">
          {tell(chosen)} · {fitText(chosen, say)}
        </div>
      )}
    </div>
  );
}

type Words = (typeof words)['en'];
type Type = Schemas['OfferedType'];

function fitText({ fit_now, fit_at_most }: Type, say: Words): string {
  if (fit_now === null) return '';
  return fit_at_most === 0 ? say.fitsNowhere : say.fitNow(fit_now);
}
