import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { inferenceQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';
import { Actions, Add } from './Actions';
import { InferenceForm } from './InferenceForm';
import { words } from './words';

type Environment = Schemas['InferenceBody'];

/** The catalogue of what models can be served in. */
export function InferenceEnvironments() {
  const say = useWords(words);
  const { data, error } = useQuery(inferenceQuery);
  const [edited, setEdited] = useState<Environment | 'new' | null>(null);
  const columns = useColumns(setEdited);
  return (
    <Card
      isFlush
      title={say.inference}
      extra={<Add label={say.addInference} onAdd={() => setEdited('new')} />}
    >
      <p className={styles.cardIntro}>{say.inferenceIntro}</p>
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active className={styles.skeleton} title={false} />}
      {data?.length === 0 && <Nothing title={say.noInference} hint={say.noInferenceHint} />}
      {data && data.length > 0 && (
        <DataTable label={say.inference} columns={columns} rows={data} rowKey={({ name }) => name} />
      )}
      {edited && (
        <InferenceForm environment={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />
      )}
    </Card>
  );
}

function useColumns(onEdit: (environment: Environment) => void): Column<Environment>[] {
  const say = useWords(words);
  const admin = useWords(adminWords);
  return [
    {
      key: 'name',
      title: admin.name,
      cell: ({ name, description }) => (
        <>
          <strong>{name}</strong>
          {description && <div className={styles.detail}>{description}</div>}
        </>
      ),
    },
    {
      key: 'framework',
      title: say.framework,
      cell: ({ framework, version }) => [framework, version].filter(Boolean).join(':') || '–',
    },
    { key: 'image', title: say.image, isWide: true, cell: ({ image }) => <code>{image || '–'}</code> },
    {
      key: admin.actions,
      title: '',
      isRight: true,
      cell: (one) => (
        <Actions
          name={one.name}
          edit={say.editInference(one.name)}
          ask={say.inferenceDeleteAsk(one.name)}
          deleted={say.inferenceDeleted(one.name)}
          changes={inferenceQuery.queryKey}
          onEdit={() => onEdit(one)}
          remove={() =>
            answer(
              api.DELETE('/api/v1/inference-environments/{name}', { params: { path: { name: one.name } } }),
            )
          }
        />
      ),
    },
  ];
}
