import {
  DeleteOutlined,
  EditOutlined,
  KeyOutlined,
  MoreOutlined,
  PlusOutlined,
  TeamOutlined,
} from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button, Skeleton, Switch, Tooltip } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { usersQuery } from '@/api/platformQueries';
import { keys, sessionQuery } from '@/api/queries';
import { EditPerson } from '@/features/profile/EditPerson';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { MenuButton } from '@/ui/MenuButton';
import { Card, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import { words as uiWords } from '@/ui/words';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';
import { NewUser } from './NewUser';
import { ResetPassword } from './ResetPassword';
import { RolesOf } from './RolesOf';

export type User = Schemas['UserBody'];

type Asked =
  | { what: 'new' }
  | { what: 'roles' | 'password'; user: string }
  | { what: 'person'; person: User }
  | null;

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
        {asked?.what === 'person' && <EditPerson person={asked.person} onClose={close} />}
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
  const admins = users?.filter(({ is_admin, is_enabled }) => is_admin && is_enabled) ?? [];
  // Somebody must be left who can change anything.
  const isLast = ({ name }: User) => admins.length === 1 && admins[0]?.name === name;
  const columns: Column<User>[] = [
    {
      key: 'user',
      title: say.users.user,
      cell: ({ name, full_name, email }) => (
        <>
          <span className={styles.heading}>
            <strong>{name}</strong>
            {name === me?.name && <span className={styles.tag}>{say.users.you}</span>}
          </span>
          {(full_name || email) && (
            <div className={styles.under}>{[full_name, email].filter(Boolean).join(' · ')}</div>
          )}
        </>
      ),
    },
    { key: 'queues', title: say.users.queues, isWide: true, cell: (user) => <Queues user={user} /> },
    {
      key: 'seen',
      title: say.users.seen,
      cell: ({ last_seen_at: at }) =>
        at ? <TimeAgo at={at} /> : <span className="quiet">{say.users.never}</span>,
    },
    { key: 'created', title: say.users.created, cell: ({ created_at }) => <TimeAgo at={created_at} /> },
    {
      key: 'admin',
      title: say.users.admin,
      cell: (user) => <Flag user={user} field="is_admin" isLast={isLast(user)} />,
    },
    {
      key: 'enabled',
      title: say.users.enabled,
      cell: (user) => <Flag user={user} field="is_enabled" isLast={isLast(user)} />,
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (user) => <Menu user={user} isLast={isLast(user)} onAsk={onAsk} />,
    },
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
  const ui = useWords(uiWords);
  if (user.is_admin) return <span className="quiet">{say.users.all}</span>;
  if (user.queues.length === 0) return <span className="quiet">{say.users.none}</span>;
  return (
    <span className={styles.tags}>
      {user.queues.map(({ name, role }) => (
        <span key={name} className={styles.tag}>
          {ui.place(name, say.roles[role])}
        </span>
      ))}
    </span>
  );
}

interface FlagProps {
  user: User;
  field: 'is_admin' | 'is_enabled';
  isLast: boolean;
}

function Flag({ user, field, isLast }: FlagProps) {
  const { users: say, cancel } = useWords(words);
  const { modal } = App.useApp();
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
  const ask = (value: boolean) => {
    const { title, hint, ok } = say.asks[field === 'is_admin' ? (value ? 'promote' : 'demote') : 'disable'];
    modal.confirm({
      title: title(user.name),
      content: hint,
      okText: ok,
      okButtonProps: { danger: true },
      cancelText: cancel,
      onOk: () => changing.mutate(value),
    });
  };
  return (
    <Tooltip title={isLast ? say.lastAdmin : undefined}>
      <Switch
        size="small"
        checked={user[field]}
        disabled={isLast}
        loading={changing.isPending}
        aria-label={field === 'is_admin' ? say.adminOf(user.name) : say.enabledOf(user.name)}
        onChange={(value) => (field === 'is_enabled' && value ? changing.mutate(true) : ask(value))}
      />
    </Tooltip>
  );
}

interface MenuProps {
  user: User;
  isLast: boolean;
  onAsk: (asked: Asked) => void;
}

function Menu({ user, isLast, onAsk }: MenuProps) {
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
      key: 'person',
      label: say.users.person,
      icon: <EditOutlined aria-hidden />,
      onClick: () => onAsk({ what: 'person', person: user }),
    },
    {
      key: 'roles',
      label: say.users.rolesOf(user.name),
      icon: <TeamOutlined aria-hidden />,
      onClick: () => onAsk({ what: 'roles', user: user.name }),
    },
    {
      key: 'password',
      label: say.users.reset,
      icon: <KeyOutlined aria-hidden />,
      onClick: () => onAsk({ what: 'password', user: user.name }),
    },
    {
      key: 'delete',
      danger: true,
      disabled: isLast,
      title: isLast ? say.users.lastAdmin : undefined,
      label: say.delete,
      icon: <DeleteOutlined aria-hidden />,
      onClick: ask,
    },
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
