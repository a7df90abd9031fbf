import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Modal, Select } from 'antd';
import { answer, api } from '@/api/client';
import { usersQuery } from '@/api/platformQueries';
import { keys, queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words } from '../words';

type Role = 'admin' | 'member' | 'viewer';

/** The roles of one person, queue by queue; each change holds at once. */
export function RolesOf({ user, onClose }: { user: string; onClose: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data: users = [] } = useQuery(usersQuery);
  const roles = new Map(
    users.find(({ name }) => name === user)?.queues.map(({ name, role }) => [name, role]),
  );
  const changing = useMutation({
    mutationFn: async ({ queue, role }: { queue: string; role: Role | '' }) => {
      const params = { path: { name: queue, user } };
      await answer<unknown>(
        role === ''
          ? api.DELETE('/api/v1/queues/{name}/members/{user}', { params })
          : api.PUT('/api/v1/queues/{name}/members/{user}', { params, body: { role } }),
      );
    },
    onSuccess: () => done(say.queues.memberSet(user)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.accounts }),
  });
  const options = [
    { value: '', label: say.users.noRole },
    ...(['viewer', 'member', 'admin'] as const).map((value) => ({ value, label: say.roles[value] })),
  ];
  return (
    <Modal open title={say.users.rolesOf(user)} footer={null} onCancel={onClose}>
      <p className={styles.detail}>{say.rolesHelp}</p>
      {queues.map(({ name }) => (
        <div key={name} className={styles.roleLine}>
          <span>{name}</span>
          <Select
            aria-label={say.queues.roleOf(name)}
            value={roles.get(name) ?? ''}
            options={options}
            loading={changing.isPending && changing.variables.queue === name}
            onChange={(role: Role | '') => changing.mutate({ queue: name, role })}
          />
        </div>
      ))}
    </Modal>
  );
}
