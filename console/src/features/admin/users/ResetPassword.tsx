import { Form, Input } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from '../words';

interface Fields {
  password: string;
}

export function ResetPassword({ user, onClose }: { user: string; onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const resetting = useSaving({
    form,
    save: ({ password }: Fields) =>
      answer(api.PATCH('/api/v1/users/{name}', { params: { path: { name: user } }, body: { password } })),
    onSaved: () => {
      done(say.users.resetDone(user));
      onClose();
    },
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.users.resetOf(user)}
      okText={say.users.reset}
      cancelText={say.cancel}
      isSaving={resetting.isPending}
      first="password"
      initialValues={{ password: '' }}
      onFinish={(fields) => resetting.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="password"
        label={say.users.newPassword}
        extra={say.users.resetHelp}
        rules={[{ required: true, min: 8, message: say.users.tooShort }]}
      >
        <Input.Password autoComplete="new-password" maxLength={256} />
      </Form.Item>
    </FormDialog>
  );
}
