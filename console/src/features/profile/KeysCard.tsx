import { DeleteOutlined } from '@ant-design/icons';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Form, Input, Skeleton } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import styles from './profile.module.css';
import { words } from './words';

type Key = Schemas['SshKeyBody'];

const keysQuery = queryOptions({
  queryKey: ['me', 'ssh-keys'],
  queryFn: async () => (await answer(api.GET('/api/v1/me/ssh-keys'))).items,
});

/** The public keys with which somebody comes into tasks by SSH. */
export function KeysCard() {
  const say = useWords(words);
  const client = useQueryClient();
  const [form] = Form.useForm<{ public_key: string }>();
  const { data: keys } = useQuery(keysQuery);
  const adding = useMutation({
    mutationFn: ({ public_key }: { public_key: string }) =>
      answer(api.POST('/api/v1/me/ssh-keys', { body: { public_key, name: '' } })),
    onSuccess: () => form.resetFields(),
    onSettled: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  return (
    <Card title={say.keys}>
      <p className="quiet">{say.keysHelp}</p>
      {keys === undefined && <Skeleton active title={false} />}
      {keys?.length === 0 && <Nothing title={say.noKeys} />}
      <ul className={styles.tokens}>
        {keys?.map((key) => (
          <KeyLine key={key.id} one={key} />
        ))}
      </ul>
      <Form form={form} layout="vertical" requiredMark={false} onFinish={(fields) => adding.mutate(fields)}>
        <Form.Item name="public_key" label={say.publicKey} rules={[{ required: true, message: say.needed }]}>
          <Input.TextArea
            rows={2}
            spellCheck={false}
            placeholder="ssh-ed25519 AAAA… me@laptop"
            maxLength={16_384}
          />
        </Form.Item>
        {adding.error && <Failure error={adding.error} />}
        <Button htmlType="submit" loading={adding.isPending}>
          {say.addKey}
        </Button>
      </Form>
    </Card>
  );
}

function KeyLine({ one }: { one: Key }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const removing = useMutation({
    mutationFn: () =>
      answer(api.DELETE('/api/v1/me/ssh-keys/{key_id}', { params: { path: { key_id: one.id } } })),
    onSuccess: () => done(say.keyRemoved),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keysQuery.queryKey }),
  });
  return (
    <li>
      <div>
        <strong>{one.name}</strong>
        <div className="quiet">
          <code>{one.fingerprint}</code> · {say.created} <TimeAgo at={one.created_at} /> · {say.used}{' '}
          <TimeAgo at={one.last_used_at} />
        </div>
      </div>
      <RiskMenu
        of={one.name}
        label={say.removeKey}
        icon={<DeleteOutlined aria-hidden />}
        title={say.removeKeyAsk(one.name)}
        hint={say.removeKeyHint}
        onOk={() => removing.mutate()}
      />
    </li>
  );
}
