import { LockOutlined, UserOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { Alert, Button, Form, Input } from 'antd';
import { ApiError } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { useTabTitle } from '@/ui/Page';
import styles from './auth.module.css';
import { SignInBox } from './SignInBox';
import { signIn } from './signIn';
import { words } from './words';

interface Fields {
  user: string;
  password: string;
}

const route = getRouteApi('/sign-in');

export function SignInPage() {
  const say = useWords(words);
  const client = useQueryClient();
  const router = useRouter();
  const { next, ended } = route.useSearch();
  useTabTitle(say.title);
  const signingIn = useMutation({
    mutationFn: ({ user, password }: Fields) => signIn(client, user, password),
    onSuccess: () => router.navigate({ href: next ?? '/' }),
  });
  return (
    <SignInBox>
      {ended && <Alert className={styles.failure} type="info" showIcon title={say.ended} />}
      <Form<Fields> layout="vertical" requiredMark={false} onFinish={(fields) => signingIn.mutate(fields)}>
        <Form.Item name="user" label={say.user} rules={[{ required: true, message: say.needUser }]}>
          <Input
            prefix={<UserOutlined aria-hidden />}
            autoComplete="username"
            autoFocus
            size="large"
            maxLength={255}
          />
        </Form.Item>
        <Form.Item
          name="password"
          label={say.password}
          rules={[{ required: true, message: say.needPassword }]}
        >
          <Input.Password
            prefix={<LockOutlined aria-hidden />}
            autoComplete="current-password"
            size="large"
            maxLength={1024}
          />
        </Form.Item>
        {signingIn.error && (
          <div className={styles.failure}>
            <SignInFailure error={signingIn.error} />
          </div>
        )}
        <Button type="primary" htmlType="submit" block size="large" loading={signingIn.isPending}>
          {say.signIn}
        </Button>
      </Form>
      <p className={styles.help}>{say.help}</p>
    </SignInBox>
  );
}

function SignInFailure({ error }: { error: Error }) {
  const say = useWords(words);
  const isWrong = error instanceof ApiError && error.said.message_code === 'wrong_password';
  return isWrong ? <Alert type="error" showIcon title={say.wrong} /> : <Failure error={error} />;
}
