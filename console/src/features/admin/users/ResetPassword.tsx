import { useMutation } from '@tanstack/react-query';
import { Form, Input, Modal } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { showProblems } from '@/ui/formProblems';
import { useTell } from '@/ui/useTell';
import { words } from '../words';

interface Fields {
  password: string;
}

export function ResetPassword({ user, onClose }: { user: string; onClose: () => void }) {
  const say = useWords(words);
  const { done, failed } = useTell();
  const [form] = Form.useForm<Fields>();
  const resetting = useMutation({
    mutationFn: ({ password }: Fields) =>
      answer(api.PATCH('/api/v1/users/{name}', { params: { path: { name: user } }, body: { password } })),
    onSuccess: () => {
      done(say.users.resetDone(user));
      onClose();
    },
    onError: (error) => showProblems(form, error) || failed(error),
  });
  return (
    <Modal
      open
      title={say.users.resetOf(user)}
      okText={say.users.reset}
      cancelText={say.cancel}
      confirmLoading={resetting.isPending}
      onOk={() => form.submit()}
      onCancel={onClose}
      // A dialog that opens without moving takes the focus after its fields did.
      afterOpenChange={(isOpen) => isOpen && form.focusField('password')}
    >
      <Form<Fields>
        form={form}
        layout="vertical"
        requiredMark={false}
        initialValues={{ password: '' }}
        onFinish={(fields) => resetting.mutate(fields)}
      >
        <Form.Item
          name="password"
          label={say.users.newPassword}
          extra={say.users.resetHelp}
          rules={[{ required: true, min: 8, message: say.users.tooShort }]}
        >
          <Input.Password autoFocus autoComplete="new-password" maxLength={256} />
        </Form.Item>
      </Form>
    </Modal>
  );
}
