import { MoreOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button, Skeleton, Switch } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { usersQuery } from '@/api/platformQueries';
import { keys, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { MenuButton } from '@/ui/MenuButton';
import { Card, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';
import { NewUser } from './NewUser';
import { ResetPassword } from './ResetPassword';
import { RolesOf } from './RolesOf';

export type User = Schemas['UserBody'];

type Asked = { what: 'new' } | { what: 'roles' | 'password'; user: string } | null;

/** Everybody with an account, and what they may do. */
export function UsersPage() {
  const say = useWords(words).users;
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  return (
    <AdminOnly title={say.title}>
      <Page
        title={say.title}
        actions={
          <Button
            type="primary"
            icon={<PlusOutlined aria-hidden />}
            onClick={() => setAsked({ what: 'new' })}
          >
            {say.add}
          </Button>
        }
      >
        <Users onAsk={setAsked} />
        {asked?.what === 'new' && <NewUser onClose={close} />}
        {asked?.what === 'password' && <ResetPassword user={asked.user} onClose={close} />}
        {asked?.what === 'roles' && <RolesOf user={asked.user} onClose={close} />}
      </Page>
    </AdminOnly>
  );
}

function Users({ onAsk }: { onAsk: (asked: Asked) => void }) {
  const say = useWords(words);
  const { data: users, error } = useQuery(usersQuery);
  const { data: me } = useQuery(sessionQuery);
  if (error && !users) return <Failure error={error} />;
  const columns: Column<User>[] = [
    {
      key: 'user',
      title: say.users.user,
      cell: ({ name }) => (
        <span className={styles.heading}>
          <strong>{name}</strong>
          {name === me?.name && <span className={styles.tag}>{say.users.you}</span>}
        </span>
      ),
    },
    { key: 'queues', title: say.users.queues, isWide: true, cell: (user) => <Queues user={user} /> },
    { key: 'created', title: say.users.created, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    { key: 'admin', title: say.users.admin, cell: (user) => <Flag user={user} field="is_admin" /> },
    { key: 'enabled', title: say.users.enabled, cell: (user) => <Flag user={user} field="is_enabled" /> },
    { key: say.actions, title: '', isRight: true, cell: (user) => <Menu user={user} onAsk={onAsk} /> },
  ];
  return (
    <Card isFlush>
      {!users && <Skeleton active className={styles.skeleton} title={false} />}
      {users && (
        <DataTable
          label={say.users.title}
          columns={columns}
          rows={users}
          rowKey={({ name }) => name}
          isDimmed={({ is_enabled }) => !is_enabled}
        />
      )}
    </Card>
  );
}

function Queues({ user }: { user: User }) {
  const say = useWords(words);
  if (user.is_admin) return <span className="quiet">{say.users.all}</span>;
  if (user.queues.length === 0) return <span className="quiet">{say.users.none}</span>;
  return (
    <span className={styles.tags}>
      {user.queues.map(({ name, role }) => (
        <span key={name} className={styles.tag}>
          {name}: {say.roles[role]}
        </span>
      ))}
    </span>
  );
}

function Flag({ user, field }: { user: User; field: 'is_admin' | 'is_enabled' }) {
  const say = useWords(words).users;
  const client = useQueryClient();
  const { done, failed } = useTell();
  const changing = useMutation({
    mutationFn: (value: boolean) =>
      answer(
        api.PATCH('/api/v1/users/{name}', {
          params: { path: { name: user.name } },
          body: { [field]: value },
        }),
      ),
    onSuccess: () => done(say.changed(user.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.accounts }),
  });
  return (
    <Switch
      size="small"
      checked={user[field]}
      loading={changing.isPending}
      aria-label={field === 'is_admin' ? say.adminOf(user.name) : say.enabledOf(user.name)}
      onChange={(value) => changing.mutate(value)}
    />
  );
}

function Menu({ user, onAsk }: { user: User; onAsk: (asked: Asked) => void }) {
  const say = useWords(words);
  const { modal } = App.useApp();
  const client = useQueryClient();
  const { done, failed } = useTell();
  const deleting = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/users/{name}', { params: { path: { name: user.name } } })),
    onSuccess: () => done(say.users.deleted(user.name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.accounts }),
  });
  const ask = () =>
    modal.confirm({
      title: say.users.deleteAsk(user.name),
      okText: say.delete,
      okButtonProps: { danger: true },
      cancelText: say.cancel,
      onOk: () => deleting.mutate(),
    });
  const items = [
    {
      key: 'roles',
      label: say.users.rolesOf(user.name),
      onClick: () => onAsk({ what: 'roles', user: user.name }),
    },
    { key: 'password', label: say.users.reset, onClick: () => onAsk({ what: 'password', user: user.name }) },
    { key: 'delete', danger: true, label: say.delete, onClick: ask },
  ];
  return (
    <MenuButton
      items={items}
      size="small"
      type="text"
      icon={<MoreOutlined aria-hidden />}
      aria-label={say.users.more(user.name)}
    />
  );
}
