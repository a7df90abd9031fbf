import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { secretsQuery } from '@/api/platformQueries';
import { queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { SecretForm } from './SecretForm';
import styles from './secrets.module.css';
import { words } from './words';

type Secret = Schemas['SecretBody'];

/** One's own secrets and those of one's queues: names only, values go in and never come out. */
export function SecretsPage() {
  const say = useWords(words);
  const { data: secrets, error } = useQuery(secretsQuery);
  const { data: queues = [] } = useQuery(queuesQuery);
  const [edited, setEdited] = useState<Secret | 'new' | null>(null);
  const ruled = queues.filter(({ my_role }) => my_role === 'admin').map(({ name }) => name);
  const mayChange = ({ queue }: Secret) => queue === null || ruled.includes(queue);
  const columns: Column<Secret>[] = [
    { key: 'name', title: say.name, cell: ({ name }) => <strong className="mono">{name}</strong> },
    { key: 'kind', title: say.kind, cell: ({ kind }) => say.kinds[kind] },
    { key: 'of', title: say.of, cell: ({ queue }) => (queue === null ? say.mine : say.queue(queue)) },
    { key: 'changed', title: say.changed, cell: ({ updated_at }) => <TimeAgo at={updated_at} /> },
    {
      key: 'used',
      title: say.used,
      cell: ({ last_used_at }) => (last_used_at ? <TimeAgo at={last_used_at} /> : say.never),
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (secret) => mayChange(secret) && <Actions secret={secret} onChange={() => setEdited(secret)} />,
    },
  ];
  const add = (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={() => setEdited('new')}>
      {say.set}
    </Button>
  );
  return (
    <Page title={say.title} actions={add}>
      <p className={styles.intro}>{say.intro}</p>
      {error && !secrets && <Failure error={error} />}
      <Card isFlush>
        {!secrets && !error && <Skeleton active className={styles.skeleton} title={false} />}
        {secrets?.length === 0 && <Nothing title={say.nothing} hint={say.nothingHint} />}
        {secrets && secrets.length > 0 && (
          <DataTable
            label={say.title}
            columns={columns}
            rows={secrets}
            rowKey={({ name, queue }) => `${queue ?? ''}/${name}`}
          />
        )}
      </Card>
      {edited && (
        <SecretForm
          secret={edited === 'new' ? undefined : edited}
          queues={ruled}
          onClose={() => setEdited(null)}
        />
      )}
    </Page>
  );
}

function Actions({ secret, onChange }: { secret: Secret; onChange: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const deleting = useMutation({
    mutationFn: () =>
      answer(
        api.DELETE('/api/v1/secrets/{name}', {
          params: { path: { name: secret.name }, query: { queue: secret.queue } },
        }),
      ),
    onSuccess: () => done(say.deleted(secret.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: secretsQuery.queryKey }),
  });
  return (
    <div className={styles.actions}>
      <Button size="small" aria-label={`${say.change} ${secret.name}`} onClick={onChange}>
        {say.change}
      </Button>
      <RiskMenu
        of={secret.name}
        label={say.delete}
        icon={<DeleteOutlined aria-hidden />}
        title={say.deleteAsk(secret.name)}
        hint={say.deleteHint}
        onOk={() => deleting.mutate()}
      />
    </div>
  );
}
