import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Form, Input } from 'antd';
import { answer, api } from '@/api/client';
import { sessionQuery } from '@/api/queries';
import { signIn } from '@/features/auth/signIn';
import { useWords } from '@/i18n/language';
import { useProblems } from '@/ui/formProblems';
import { Card } from '@/ui/Page';
import { useTell } from '@/ui/useTell';
import { words } from './words';

interface Fields {
  old_password: string;
  new_password: string;
  again: string;
}

export function PasswordCard() {
  const say = useWords(words);
  const client = useQueryClient();
  const { data: me } = useQuery(sessionQuery);
  const { done, failed } = useTell();
  const showProblems = useProblems();
  const [form] = Form.useForm<Fields>();
  const changing = useMutation({
    mutationFn: async ({ old_password, new_password }: Fields) => {
      await answer(api.POST('/api/v1/me/password', { body: { old_password, new_password } }));
      // The new password revoked the session of this browser too.
      await signIn(client, me?.name ?? '', new_password);
    },
    onSuccess: () => {
      form.resetFields();
      done(say.changed);
    },
    onError: (error) => {
      if (!showProblems(form, error)) failed(error);
    },
  });
  return (
    <Card title={say.password}>
      <Form form={form} layout="vertical" requiredMark={false} onFinish={(fields) => changing.mutate(fields)}>
        <input type="text" autoComplete="username" value={me?.name ?? ''} readOnly hidden />
        <Form.Item
          name="old_password"
          label={say.oldPassword}
          rules={[{ required: true, message: say.needed }]}
        >
          <Input.Password autoComplete="current-password" maxLength={1024} />
        </Form.Item>
        <Form.Item
          name="new_password"
          label={say.newPassword}
          extra={say.passwordHelp}
          rules={[{ required: true, min: 8, message: say.tooShort }]}
        >
          <Input.Password autoComplete="new-password" maxLength={256} />
        </Form.Item>
        <Form.Item
          name="again"
          label={say.again}
          dependencies={['new_password']}
          rules={[
            { required: true, message: say.needed },
            ({ getFieldValue }) => ({
              validator: (_rule, value) =>
                !value || value === getFieldValue('new_password')
                  ? Promise.resolve()
                  : Promise.reject(new Error(say.differs)),
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" maxLength={256} />
        </Form.Item>
        <Button type="primary" htmlType="submit" loading={changing.isPending}>
          {say.change}
        </Button>
      </Form>
    </Card>
  );
}
