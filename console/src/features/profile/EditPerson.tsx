import { Form, Input } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from './words';

type Fields = Pick<Schemas['UserBody'], 'full_name' | 'email'>;

/** Who somebody is: their own to say, and an admin's. */
export function EditPerson({ person, onClose }: { person: Schemas['UserBody']; onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const { name, full_name, email } = person;
  const saving = useSaving({
    form,
    save: (fields: Fields) =>
      answer(api.PATCH('/api/v1/users/{name}', { params: { path: { name } }, body: fields })),
    onSaved: () => {
      done(say.personSaved(name));
      onClose();
    },
    changes: keys.accounts,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.editOf(name)}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="full_name"
      initialValues={{ full_name, email }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <PersonFields />
    </FormDialog>
  );
}

export function PersonFields() {
  const say = useWords(words);
  return (
    <>
      <Form.Item name="full_name" label={say.fullName}>
        <Input autoComplete="off" maxLength={255} />
      </Form.Item>
      <Form.Item name="email" label={say.email} rules={[{ pattern: /^\S+@\S+$/, message: say.badEmail }]}>
        <Input autoComplete="off" maxLength={255} />
      </Form.Item>
    </>
  );
}
