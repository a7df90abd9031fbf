import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { frameworksQuery, typesQuery } from '@/api/platformQueries';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes, useSize } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';
import { Actions, Add } from './Actions';
import { FrameworkForm } from './FrameworkForm';
import { InferenceEnvironments } from './InferenceEnvironments';
import { TypeForm } from './TypeForm';
import { words } from './words';

type Type = Schemas['OfferedType'];
type Framework = Schemas['FrameworkBody'];

/** What people can choose by name: sizes of tasks, and frameworks. */
export function TypesPage() {
  const say = useWords(words);
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title}>
        <div className={styles.stack}>
          <Types />
          <Frameworks />
          <InferenceEnvironments />
        </div>
      </Page>
    </AdminOnly>
  );
}

function Types() {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { data, error } = useQuery(typesQuery());
  const [edited, setEdited] = useState<Type | 'new' | null>(null);
  const types = data?.items;
  const columns: Column<Type>[] = [
    {
      key: 'name',
      title: admin.name,
      isWide: true,
      cell: ({ name, description }) => (
        <>
          <strong>{name}</strong>
          {description && <div className={styles.detail}>{description}</div>}
        </>
      ),
    },
    { key: 'size', title: say.size, cell: (type) => <Size type={type} /> },
    { key: 'fit', title: say.fitNow, cell: (type) => <Fit type={type} /> },
    {
      key: admin.actions,
      title: '',
      isRight: true,
      cell: (type) => (
        <Actions
          name={type.name}
          edit={say.editType(type.name)}
          ask={say.typeDeleteAsk(type.name)}
          deleted={say.typeDeleted(type.name)}
          changes={keys.platform}
          onEdit={() => setEdited(type)}
          remove={() =>
            answer(api.DELETE('/api/v1/instance-types/{name}', { params: { path: { name: type.name } } }))
          }
        />
      ),
    },
  ];
  return (
    <Card isFlush title={say.types} extra={<Add label={say.addType} onAdd={() => setEdited('new')} />}>
      <p className={styles.cardIntro}>{say.typesIntro}</p>
      {error && !types && <Failure error={error} />}
      {!types && !error && <Skeleton active className={styles.skeleton} title={false} />}
      {types?.length === 0 && <Nothing title={say.noTypes} hint={say.noTypesHint} />}
      {types && types.length > 0 && (
        <DataTable label={say.types} columns={columns} rows={types} rowKey={({ name }) => name} />
      )}
      {edited && <TypeForm type={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </Card>
  );
}

function Size({ type }: { type: Type }) {
  const say = useWords(words);
  const size = useSize();
  const shm = type.shm_bytes === null ? '' : ` · ${say.shm} ${bytes(type.shm_bytes)}`;
  return <span className={styles.whole}>{size(type) + shm}</span>;
}

function Fit({ type: { fit_now, fit_at_most } }: { type: Type }) {
  const say = useWords(words);
  if (fit_now === null || fit_at_most === null) return <span className="quiet">{say.unknown}</span>;
  if (fit_at_most > 0) return <span className="number">{say.fitOf(fit_now, fit_at_most)}</span>;
  return (
    <span className={styles.tag} data-tone="warn">
      {say.nowhere}
    </span>
  );
}

const labelOf = ({ name, version }: Framework) => `${name}:${version}`;

function Frameworks() {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { data: frameworks, error } = useQuery(frameworksQuery);
  const [edited, setEdited] = useState<Framework | 'new' | null>(null);
  const columns: Column<Framework>[] = [
    {
      key: 'framework',
      title: say.framework,
      cell: (one) => (
        <>
          <span className={styles.heading}>
            <strong>{labelOf(one)}</strong>
            {one.is_default && (
              <span className={styles.tag} data-tone="accent">
                {say.isDefault}
              </span>
            )}
          </span>
          {one.description && <div className={styles.detail}>{one.description}</div>}
        </>
      ),
    },
    { key: 'runsIn', title: say.runsIn, isWide: true, cell: (one) => <RunsIn framework={one} /> },
    { key: 'strategies', title: say.strategies, cell: ({ strategies }) => strategies.join(', ') || say.all },
    {
      key: admin.actions,
      title: '',
      isRight: true,
      cell: (one) => (
        <Actions
          name={labelOf(one)}
          edit={say.editFramework(labelOf(one))}
          ask={say.frameworkDeleteAsk(labelOf(one))}
          deleted={say.frameworkDeleted(labelOf(one))}
          changes={frameworksQuery.queryKey}
          onEdit={() => setEdited(one)}
          remove={() => {
            const path = { name: one.name, version: one.version };
            return answer(api.DELETE('/api/v1/frameworks/{name}/{version}', { params: { path } }));
          }}
        />
      ),
    },
  ];
  return (
    <Card
      isFlush
      title={say.frameworks}
      extra={<Add label={say.addFramework} onAdd={() => setEdited('new')} />}
    >
      <p className={styles.cardIntro}>{say.frameworksIntro}</p>
      {error && !frameworks && <Failure error={error} />}
      {!frameworks && !error && <Skeleton active className={styles.skeleton} title={false} />}
      {frameworks?.length === 0 && <Nothing title={say.noFrameworks} hint={say.noFrameworksHint} />}
      {frameworks && frameworks.length > 0 && (
        <DataTable label={say.frameworks} columns={columns} rows={frameworks} rowKey={labelOf} />
      )}
      {edited && (
        <FrameworkForm framework={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />
      )}
    </Card>
  );
}

/** The image and the packages of a framework. */
function RunsIn({ framework: { image, environment } }: { framework: Framework }) {
  const { requirements = [], path } = (environment ?? {}) as { requirements?: string[]; path?: string };
  const parts = [image, path, requirements.join(', ')].filter(Boolean);
  return parts.length === 0 ? <>–</> : parts.map((part) => <div key={part}>{<code>{part}</code>}</div>);
}
