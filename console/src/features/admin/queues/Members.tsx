import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { AutoComplete, Button, Modal, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api } from '@/api/client';
import { membersQuery, usersQuery } from '@/api/platformQueries';
import { keys, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Nothing } from '@/ui/Page';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words } from '../words';

type Role = 'admin' | 'member' | 'viewer';

/** Who has which role in a queue; each change holds at once. */
export function Members({ queue, onClose }: { queue: string; onClose: () => void }) {
  const say = useWords(words);
  const { data: members, error } = useQuery(membersQuery(queue));
  const { put, remove } = useChanges(queue);
  const options = (['viewer', 'member', 'admin'] as const).map((value) => ({
    value,
    label: say.roles[value],
  }));
  return (
    <Modal open title={say.queues.membersOf(queue)} footer={null} onCancel={onClose}>
      <AddMember
        taken={new Set(members?.map(({ user }) => user))}
        options={options}
        isBusy={put.isPending}
        onAdd={(user, role) => put.mutateAsync({ user, role })}
      />
      {error && <Failure error={error} />}
      {!members && !error && <Skeleton active title={false} />}
      {members?.length === 0 && <Nothing title={say.queues.noMembers} hint={say.queues.noMembersHint} />}
      <ul className={styles.list}>
        {members?.map(({ user, role }) => (
          <li key={user}>
            <span>{user}</span>
            <Select
              aria-label={say.queues.roleOf(user)}
              value={role as Role}
              options={options}
              onChange={(next: Role) => put.mutate({ user, role: next })}
            />
            <Button
              type="text"
              icon={<DeleteOutlined aria-hidden />}
              aria-label={say.queues.removeMember(user)}
              onClick={() => remove.mutate(user)}
            />
          </li>
        ))}
      </ul>
      <p className={styles.detail}>{say.rolesHelp}</p>
    </Modal>
  );
}

function useChanges(queue: string) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const settle = { onError: failed, onSettled: () => client.invalidateQueries({ queryKey: keys.accounts }) };
  const put = useMutation({
    mutationFn: ({ user, role }: { user: string; role: Role }) =>
      answer(
        api.PUT('/api/v1/queues/{name}/members/{user}', {
          params: { path: { name: queue, user } },
          body: { role },
        }),
      ),
    onSuccess: (_data, { user }) => done(say.queues.memberSet(user)),
    ...settle,
  });
  const remove = useMutation({
    mutationFn: (user: string) =>
      answer(api.DELETE('/api/v1/queues/{name}/members/{user}', { params: { path: { name: queue, user } } })),
    onSuccess: (_data, user) => done(say.queues.memberRemoved(user)),
    ...settle,
  });
  return { put, remove };
}

interface AddMemberProps {
  taken: ReadonlySet<string>;
  options: { value: Role; label: string }[];
  isBusy: boolean;
  onAdd: (user: string, role: Role) => Promise<unknown>;
}

/** Only platform admins may list people; others type a name. */
function AddMember({ taken, options, isBusy, onAdd }: AddMemberProps) {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: me?.is_admin === true });
  const [user, setUser] = useState('');
  const [role, setRole] = useState<Role>('member');
  const add = () =>
    onAdd(user, role).then(
      () => setUser(''),
      () => undefined,
    );
  const names = users.map(({ name }) => name).filter((name) => !taken.has(name));
  return (
    <div className={styles.addLine}>
      <AutoComplete
        aria-label={say.queues.person}
        placeholder={say.queues.person}
        value={user}
        options={names.map((value) => ({ value }))}
        showSearch={{ filterOption: true }}
        onChange={(value: string) => setUser(value)}
      />
      <Select
        aria-label={say.queues.role}
        value={role}
        options={options}
        onChange={(value: Role) => setRole(value)}
      />
      <Button type="primary" disabled={user.trim() === ''} loading={isBusy} onClick={() => void add()}>
        {say.queues.addMember}
      </Button>
    </div>
  );
}
