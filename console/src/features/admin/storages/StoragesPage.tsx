import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api } from '@/api/client';
import { storagesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { useDescription } from '@/ui/storages';
import { useTell } from '@/ui/useTell';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';
import type { Storage } from './fields';
import { StorageForm } from './StorageForm';
import { words } from './words';

/** The places for files: where they lie, who may use them, and where each is kept. */
export function StoragesPage() {
  const say = useWords(words);
  const { data: storages, error } = useQuery(storagesQuery);
  const [edited, setEdited] = useState<Storage | 'new' | null>(null);
  const add = (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={() => setEdited('new')}>
      {say.add}
    </Button>
  );
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title} actions={add}>
        <p className={styles.intro}>{say.intro}</p>
        {error && !storages && <Failure error={error} />}
        {(storages || !error) && (
          <Card isFlush>
            {!storages && <Skeleton active className={styles.skeleton} title={false} />}
            {storages && <List storages={storages} onEdit={setEdited} />}
          </Card>
        )}
        {edited && (
          <StorageForm storage={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />
        )}
      </Page>
    </AdminOnly>
  );
}

interface ListProps {
  storages: readonly Storage[];
  onEdit: (storage: Storage) => void;
}

function List({ storages, onEdit }: ListProps) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const described = useDescription();
  const columns: Column<Storage>[] = [
    {
      key: 'name',
      title: say.name,
      cell: ({ name, description }) => (
        <>
          <Link to="/files" search={{ storage: name }} aria-label={say.browseOf(name)}>
            <strong>{name}</strong>
          </Link>
          {description && <div className={styles.detail}>{described(description)}</div>}
        </>
      ),
    },
    { key: 'where', title: say.where, isWide: true, cell: (one) => <Where storage={one} /> },
    { key: 'who', title: say.who, cell: (one) => <Who storage={one} /> },
    { key: 'quota', title: say.quota, cell: (one) => <Quota storage={one} /> },
    {
      key: 'origin',
      title: say.origin,
      cell: ({ origin }) => (
        <span className={styles.tag} title={say.originHints[origin]}>
          {say.origins[origin] ?? origin}
        </span>
      ),
    },
    {
      key: admin.actions,
      title: '',
      isRight: true,
      cell: (one) => <Actions storage={one} onEdit={() => onEdit(one)} />,
    },
  ];
  return <DataTable label={say.title} columns={columns} rows={storages} rowKey={({ name }) => name} />;
}

function Where({ storage }: { storage: Storage }) {
  const say = useWords(words);
  const { kind, path, endpoint, bucket, prefix, is_private } = storage;
  const place =
    kind === 's3' ? [endpoint, bucket, prefix].filter(Boolean).join(' / ') : (endpoint ?? path ?? '');
  return (
    <>
      {say.kinds[kind]}
      <div className={styles.detail}>{place ? <code>{place}</code> : say.ownFolder}</div>
      {is_private && <span className={styles.tag}>{say.private}</span>}
    </>
  );
}

function Who({ storage: { queues, users, per_user, read_only } }: { storage: Storage }) {
  const say = useWords(words);
  const names = [...queues, ...(users ?? [])];
  return (
    <div className={styles.tags}>
      {per_user && say.eachUser}
      {!per_user && names.length === 0 && say.everybody}
      {names.map((name) => (
        <span key={name} className={styles.tag}>
          {name}
        </span>
      ))}
      {read_only && (
        <span className={styles.tag} data-tone="warn">
          {say.readOnly}
        </span>
      )}
    </div>
  );
}

function Quota({ storage: { quota_bytes, per_user } }: { storage: Storage }) {
  const say = useWords(words);
  if (quota_bytes === null) return <span className="quiet">{say.noQuota}</span>;
  return <span className="number">{per_user ? say.perUser(bytes(quota_bytes)) : bytes(quota_bytes)}</span>;
}

function Actions({ storage: { name, origin }, onEdit }: { storage: Storage; onEdit: () => void }) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const params = { path: { name } };
  const checking = useMutation({
    mutationFn: () => answer(api.POST('/api/v1/storages/{name}/check', { params })),
    onSuccess: () => done(say.answers(name)),
    onError: failed,
  });
  const removing = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/storages/{name}', { params })),
    onSuccess: () => done(say.deleted(name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: storagesQuery.queryKey }),
  });
  const isFixed = origin === 'settings';
  return (
    <div className={styles.oneLine}>
      <Button
        size="small"
        aria-label={say.checkOf(name)}
        loading={checking.isPending}
        onClick={() => checking.mutate()}
      >
        {say.check}
      </Button>
      <Button size="small" aria-label={say.edit(name)} disabled={isFixed} onClick={onEdit}>
        {admin.edit}
      </Button>
      <RiskMenu
        of={name}
        label={say.remove}
        icon={<DeleteOutlined aria-hidden />}
        title={say.deleteAsk(name)}
        hint={say.deleteHint}
        blocked={isFixed ? say.ofSettings : undefined}
        onOk={() => removing.mutate()}
      />
    </div>
  );
}
