import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Input, Skeleton, Switch } from 'antd';
import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Coded } from '@/ui/Coded';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import styles from './models.module.css';
import { modelsQuery } from './queries';
import { Restore } from './Trash';
import { words } from './words';

type Model = Schemas['ModelBody'];

const route = getRouteApi('/shell/models');

/** The models that somebody may see, the last that changed first. */
export function ModelsPage() {
  const say = useWords(words);
  const { search, trash } = route.useSearch();
  const navigate = route.useNavigate();
  const { data, error } = useQuery(modelsQuery({ search, trash: trash === 'true' }));
  const empty = trash ? say.noneInTrash : search ? say.noneFound : say.none;
  return (
    <Page title={say.title}>
      <p className={styles.intro}>{say.intro}</p>
      <div className={styles.tools}>
        <Input.Search
          aria-label={say.search}
          placeholder={say.search}
          defaultValue={search}
          allowClear
          style={{ maxWidth: 320 }}
          onSearch={(text) => void navigate({ search: (old) => ({ ...old, search: text || undefined }) })}
        />
        <span className={styles.inline}>
          <Switch
            aria-label={say.trash}
            checked={trash === 'true'}
            onChange={(isOn) =>
              void navigate({ search: (old) => ({ ...old, trash: isOn ? 'true' : undefined }) })
            }
          />
          {say.trash}
        </span>
      </div>
      {error && !data && <Failure error={error} />}
      {(data || !error) && (
        <Card isFlush>
          {!data && <Skeleton active title={false} style={{ padding: 16 }} />}
          {data?.items.length === 0 && (
            <Nothing title={empty} hint={search || trash ? undefined : <Coded text={say.noneHint} />} />
          )}
          {data && data.items.length > 0 && <List models={data.items} />}
        </Card>
      )}
    </Page>
  );
}

function List({ models }: { models: readonly Model[] }) {
  const say = useWords(words);
  const columns: Column<Model>[] = [
    { key: 'name', title: say.name, isWide: true, cell: (one) => <Name model={one} /> },
    { key: 'versions', title: say.versions, isRight: true, cell: ({ n_versions }) => n_versions },
    { key: 'aliases', title: say.aliases, cell: ({ aliases }) => aliasesOf(aliases) },
    { key: 'framework', title: say.framework, cell: ({ latest }) => latest?.framework ?? '' },
    { key: 'metrics', title: say.metrics, cell: ({ latest }) => metricsOf(latest?.metrics ?? {}) },
    { key: 'size', title: say.size, isRight: true, cell: ({ size_bytes }) => bytes(size_bytes) },
    { key: 'changed', title: say.changed, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
    { key: 'owner', title: say.owner, cell: ({ owner }) => owner },
  ];
  return <DataTable label={say.title} columns={columns} rows={models} rowKey={({ id }) => id} />;
}

function Name({ model }: { model: Model }) {
  if (model.deleted_at)
    return (
      <span className={styles.inline}>
        <strong>{model.name}</strong>
        <Restore model={model} />
      </span>
    );
  return (
    <>
      <Link to="/models/$modelId" params={{ modelId: model.id }}>
        <strong>{model.name}</strong>
      </Link>
      {model.description && <div className="quiet">{model.description}</div>}
    </>
  );
}

export const aliasesOf = (aliases: Record<string, number>): string =>
  Object.entries(aliases)
    .map(([alias, version]) => `${alias} → ${version}`)
    .join(', ');

export const metricsOf = (metrics: Record<string, number>): string =>
  Object.entries(metrics)
    .slice(0, 3)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(5))}`)
    .join(', ');
