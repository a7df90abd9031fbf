import { useQuery } from '@tanstack/react-query';
import { Form, Input, Select, Switch } from 'antd';
import { answer, api } from '@/api/client';
import { keys, queuesQuery } from '@/api/queries';
import { PersonFields } from '@/features/profile/EditPerson';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from '../words';

interface Fields {
  name: string;
  password: string;
  full_name: string;
  email: string;
  is_admin: boolean;
  queues: string[];
  role: 'admin' | 'member' | 'viewer';
}

export function NewUser({ onClose }: { onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const { data: queues = [] } = useQuery(queuesQuery);
  const [form] = Form.useForm<Fields>();
  const adding = useSaving({
    form,
    save: ({ queues: chosen, role, ...fields }: Fields) =>
      answer(
        api.POST('/api/v1/users', {
          body: {
            ...fields,
            queues: Object.fromEntries(chosen.map((queue) => [queue, role])),
          },
        }),
      ),
    onSaved: ({ name }) => {
      done(say.users.added(name));
      onClose();
    },
    changes: keys.accounts,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.users.add}
      okText={say.users.add}
      cancelText={say.cancel}
      isSaving={adding.isPending}
      first="name"
      initialValues={{
        name: '',
        password: '',
        full_name: '',
        email: '',
        is_admin: false,
        queues: ['default'],
        role: 'member',
      }}
      onFinish={(fields) => adding.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="name"
        label={say.name}
        rules={[
          { required: true, pattern: /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/, message: say.users.badName },
        ]}
      >
        <Input autoComplete="off" />
      </Form.Item>
      <Form.Item
        name="password"
        label={say.users.password}
        extra={say.users.passwordHelp}
        rules={[{ required: true, min: 8, message: say.users.tooShort }]}
      >
        <Input.Password autoComplete="new-password" maxLength={256} />
      </Form.Item>
      <PersonFields />
      <Form.Item name="queues" label={say.users.queues}>
        <Select mode="multiple" options={queues.map(({ name }) => ({ value: name, label: name }))} />
      </Form.Item>
      <Form.Item name="role" label={say.queues.role} extra={say.rolesHelp}>
        <Select
          options={(['member', 'viewer', 'admin'] as const).map((value) => ({
            value,
            label: say.roles[value],
          }))}
        />
      </Form.Item>
      <Form.Item name="is_admin" label={say.users.admin} valuePropName="checked" extra={say.users.adminHelp}>
        <Switch />
      </Form.Item>
    </FormDialog>
  );
}
