import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { LinkButton } from '@/ui/LinkButton';
import { Card, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { Comparison } from './Comparison';
import { AliasDialog, EditDialog } from './dialogs';
import { aliasesOf, metricsOf } from './ModelsPage';
import styles from './models.module.css';
import { modelQuery } from './queries';
import { MoveToTrash } from './Trash';
import { words } from './words';

type Model = Schemas['ModelDetail'];
type Version = Schemas['VersionSummary'];

const route = getRouteApi('/shell/models/$modelId');

/** One model: what is said of it, its versions, and what two of them differ in. */
export function ModelPage() {
  const say = useWords(words);
  const { modelId } = route.useParams();
  const { data: model, error } = useQuery(modelQuery(modelId));
  if (!model) return <Page title={say.title}>{error ? <Failure error={error} /> : <Skeleton active />}</Page>;
  return <Shown model={model} />;
}

function Shown({ model }: { model: Model }) {
  const say = useWords(words);
  const navigate = useNavigate();
  const [isEditing, setEditing] = useState(false);
  const remove = () =>
    answer(api.DELETE('/api/v1/models/{model}', { params: { path: { model: model.id } } }));
  const actions = (
    <>
      <LinkButton to="/models">{say.backToAll}</LinkButton>
      {model.may_change && <Button onClick={() => setEditing(true)}>{say.edit}</Button>}
      {model.may_change && (
        <MoveToTrash what={model.name} remove={remove} onDone={() => void navigate({ to: '/models' })} />
      )}
    </>
  );
  return (
    <Page title={model.name} actions={actions}>
      <div className={styles.stack}>
        <Card>
          <dl className={styles.facts}>
            <dt>{say.owner}</dt>
            <dd>{model.is_shared ? `${model.owner} (${say.shared})` : model.owner}</dd>
            {model.description && <dt>{say.description}</dt>}
            {model.description && <dd>{model.description}</dd>}
            {model.tags.length > 0 && <dt>{say.tags}</dt>}
            {model.tags.length > 0 && <dd>{model.tags.join(', ')}</dd>}
            <dt>{say.aliases}</dt>
            <dd>{aliasesOf(model.aliases) || '–'}</dd>
          </dl>
        </Card>
        <Card title={say.allVersions} isFlush>
          <Versions model={model} />
        </Card>
        {model.versions.length > 1 && <Comparison model={model} />}
      </div>
      {isEditing && <EditDialog model={model} onClose={() => setEditing(false)} />}
    </Page>
  );
}

function Versions({ model }: { model: Model }) {
  const say = useWords(words);
  const [named, setNamed] = useState<number | null>(null);
  const columns: Column<Version>[] = [
    { key: 'number', title: say.version, cell: (one) => <Number_ model={model} version={one} /> },
    { key: 'aliases', title: say.aliases, cell: ({ aliases }) => aliases.join(', ') },
    { key: 'metrics', title: say.metrics, cell: ({ metrics }) => metricsOf(metrics) },
    { key: 'framework', title: say.framework, cell: ({ framework }) => framework },
    { key: 'size', title: say.size, isRight: true, cell: ({ size_bytes }) => bytes(size_bytes) },
    { key: 'job', title: say.job, cell: ({ origin }) => <JobLink origin={origin} /> },
    { key: 'created', title: say.registered, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (one) => <VersionActions model={model} version={one} onName={() => setNamed(one.number)} />,
    },
  ];
  return (
    <>
      <DataTable
        label={say.allVersions}
        columns={columns}
        rows={model.versions}
        rowKey={({ number }) => number}
      />
      {named !== null && <AliasDialog model={model} number={named} onClose={() => setNamed(null)} />}
    </>
  );
}

function Number_({ model, version }: { model: Model; version: Version }) {
  return (
    <>
      <Link
        to="/models/$modelId/versions/$version"
        params={{ modelId: model.id, version: String(version.number) }}
      >
        <strong>{version.number}</strong>
      </Link>
      {version.description && <div className="quiet">{version.description}</div>}
    </>
  );
}

export function JobLink({ origin }: { origin: Schemas['OriginBody'] }) {
  if (!origin.job_id) return null;
  return (
    <Link to="/jobs/$jobId" params={{ jobId: origin.job_id }}>
      {origin.job_name}
    </Link>
  );
}

interface ActionsProps {
  model: Model;
  version: Version;
  onName: () => void;
}

function VersionActions({ model, version, onName }: ActionsProps) {
  const say = useWords(words);
  if (!model.may_change) return null;
  const path = { model: model.id, version: String(version.number) };
  const what = say.versionOf(model.name, version.number);
  return (
    <div className={styles.row}>
      <Button size="small" aria-label={say.aliasFor(version.number)} onClick={onName}>
        {say.setAlias}
      </Button>
      <MoveToTrash
        what={what}
        remove={() => answer(api.DELETE('/api/v1/models/{model}/versions/{version}', { params: { path } }))}
        onDone={() => undefined}
      />
    </div>
  );
}
