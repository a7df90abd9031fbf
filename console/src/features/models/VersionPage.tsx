import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { download, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { LinkButton } from '@/ui/LinkButton';
import { Card, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { JobLink } from './ModelPage';
import styles from './models.module.css';
import { versionQuery } from './queries';
import { words } from './words';

type Version = Schemas['VersionBody'];

const route = getRouteApi('/shell/models/$modelId/versions/$version');

/** One version: where it comes from, what it measured, and its files. */
export function VersionPage() {
  const say = useWords(words);
  const { modelId, version } = route.useParams();
  const { data, error } = useQuery(versionQuery(modelId, version));
  if (!data) return <Page title={say.title}>{error ? <Failure error={error} /> : <Skeleton active />}</Page>;
  return <Shown version={data} />;
}

const at = (version: Version) => `/api/v1/models/${version.model_id}/versions/${version.number}`;

function Shown({ version }: { version: Version }) {
  const say = useWords(words);
  const actions = (
    <>
      <LinkButton to="/models/$modelId" params={{ modelId: version.model_id }}>
        {say.allVersions}
      </LinkButton>
      <Button type="primary" onClick={() => void download(`${at(version)}/archive`)}>
        {say.download}
      </Button>
    </>
  );
  return (
    <Page title={say.versionOf(version.model, version.number)} actions={actions}>
      <div className={styles.stack}>
        <Card>
          <Facts version={version} />
        </Card>
        {Object.keys(version.metrics).length > 0 && (
          <Card title={say.metrics}>
            <dl className={styles.facts}>
              {Object.entries(version.metrics).map(([name, value]) => (
                <Fact key={name} name={name} value={Number(value.toPrecision(6))} />
              ))}
            </dl>
          </Card>
        )}
        <Card title={say.files} isFlush>
          <Files version={version} />
        </Card>
      </div>
    </Page>
  );
}

function Facts({ version }: { version: Version }) {
  const say = useWords(words);
  const { origin } = version;
  const facts: [string, ReactNode][] = [
    [
      say.registered,
      <span key="at">
        <TimeAgo at={version.created_at} />
        {say.by(version.created_by)}
      </span>,
    ],
    [say.description, version.description],
    [say.aliases, version.aliases.join(', ')],
    [say.tags, version.tags.join(', ')],
    [say.framework, version.framework],
    [say.format, version.format],
    [say.environment, version.environment || version.image],
    [say.job, origin.job_id ? <JobLink key="job" origin={origin} /> : ''],
    [say.code, origin.code.slice(0, 19)],
    [say.data, origin.data.map((one) => JSON.stringify(one)).join(', ')],
    [say.parameters, pairs(origin.parameters)],
  ];
  return (
    <dl className={styles.facts}>
      {facts
        .filter(([, value]) => value !== '')
        .map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
    </dl>
  );
}

const pairs = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Files({ version }: { version: Version }) {
  const say = useWords(words);
  const columns: Column<Schemas['ModelFileBody']>[] = [
    { key: 'path', title: say.path, isWide: true, cell: ({ path }) => path },
    { key: 'size', title: say.size, isRight: true, cell: ({ size_bytes }) => bytes(size_bytes) },
    {
      key: 'digest',
      title: say.digest,
      cell: ({ sha256 }) => <span className="mono">{sha256.slice(0, 12)}</span>,
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: ({ path }) => (
        <Button
          size="small"
          aria-label={say.downloadFile(path)}
          onClick={() => void download(`${at(version)}/content?path=${encodeURIComponent(path)}`)}
        >
          {say.download}
        </Button>
      ),
    },
  ];
  return <DataTable label={say.files} columns={columns} rows={version.files} rowKey={({ path }) => path} />;
}
