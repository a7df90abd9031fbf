import { useQuery } from '@tanstack/react-query';
import { Button, Form, Input, InputNumber, Select, Skeleton } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { alertSettingsQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card } from '@/ui/Page';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import styles from './alerts.module.css';
import { words } from './words';

type Settings = Schemas['AlertSettingsBody'];
type Security = Schemas['MailServerBody']['security'];

interface Fields {
  host: string;
  port: number;
  security: Security;
  sender: string;
  username: string;
  password: string;
  private_networks: string[];
}

const SECURITIES: readonly Security[] = ['none', 'starttls', 'tls'];

/** What admins set for all channels: the mail server, and where webhooks may lead. */
export function MailCard() {
  const say = useWords(words);
  const { data, error } = useQuery(alertSettingsQuery);
  return (
    <Card title={say.mail}>
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active title={false} />}
      {data && <MailForm settings={data} />}
    </Card>
  );
}

function MailForm({ settings }: { settings: Settings }) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const { mail } = settings;
  const saving = useSaving({
    form,
    save: ({ host, password, private_networks, ...rest }: Fields) => {
      // Without a word the password that is stored stays.
      const secret = password === '' && mail?.has_password ? {} : { password };
      const server = host ? { ...rest, host, ...secret } : null;
      return answer(api.PUT('/api/v1/alerts/settings', { body: { mail: server, private_networks } }));
    },
    onSaved: () => done(say.mailSaved),
    changes: alertSettingsQuery.queryKey,
  });
  return (
    <Form<Fields>
      form={form}
      layout="vertical"
      requiredMark={false}
      autoComplete="off"
      initialValues={{
        host: mail?.host ?? '',
        port: mail?.port ?? 25,
        security: mail?.security ?? 'none',
        sender: mail?.sender ?? '',
        username: mail?.username ?? '',
        password: '',
        private_networks: settings.private_networks,
      }}
      onFinish={(fields) => saving.mutate(fields)}
    >
      <p className={styles.intro}>{say.mailHelp}</p>
      <div className={styles.mail}>
        <Form.Item name="host" label={say.host} extra={say.hostHelp}>
          <Input maxLength={255} />
        </Form.Item>
        <Form.Item name="port" label={say.port}>
          <InputNumber min={1} max={65_535} precision={0} />
        </Form.Item>
        <Form.Item name="security" label={say.security}>
          <Select options={SECURITIES.map((value) => ({ value, label: say.securities[value] }))} />
        </Form.Item>
        <Form.Item name="sender" label={say.sender}>
          <Input maxLength={320} />
        </Form.Item>
        <Form.Item name="username" label={say.username}>
          <Input maxLength={255} autoComplete="off" />
        </Form.Item>
        <Form.Item
          name="password"
          label={say.password}
          extra={mail?.has_password ? say.passwordKept : undefined}
        >
          <Input.Password maxLength={1024} autoComplete="new-password" />
        </Form.Item>
      </div>
      <Form.Item name="private_networks" label={say.networks} extra={say.networksHelp}>
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[' ', ',']} />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={saving.isPending}>
        {say.save}
      </Button>
    </Form>
  );
}
