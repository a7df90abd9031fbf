import { PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Form, Input, Modal, Popconfirm, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { tokensQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { Card, Nothing } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import styles from './profile.module.css';
import { words } from './words';

const DAY_S = 86_400;
const LIFETIMES_S = { week: 7 * DAY_S, month: 30 * DAY_S, year: 365 * DAY_S, ever: null } as const;
type Lifetime = keyof typeof LIFETIMES_S;

/** One's own tokens: made here, shown once, revoked here. */
export function TokensCard() {
  const say = useWords(words);
  const { data: tokens } = useQuery(tokensQuery);
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title={say.tokens}
      extra={
        <Button icon={<PlusOutlined aria-hidden />} onClick={() => setOpen(true)}>
          {say.newToken}
        </Button>
      }
    >
      <p className="quiet">{say.tokensHelp}</p>
      {tokens === undefined && <Skeleton active title={false} />}
      {tokens?.length === 0 && <Nothing title={say.noTokens} />}
      <ul className={styles.tokens}>
        {tokens?.map((token) => (
          <TokenLine key={token.id} token={token} />
        ))}
      </ul>
      <NewToken isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
}

function TokenLine({ token }: { token: Schemas['TokenBody'] }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const revoking = useMutation({
    mutationFn: () =>
      answer(api.DELETE('/api/v1/tokens/{token_id}', { params: { path: { token_id: token.id } } })),
    onSuccess: () => done(say.revoked),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  return (
    <li>
      <div>
        <strong>{token.name}</strong>
        {token.is_current && <span className={styles.current}>{say.thisBrowser}</span>}
        <div className="quiet">
          {say.created} <TimeAgo at={token.created_at} /> · {say.used} <TimeAgo at={token.last_used_at} /> ·{' '}
          {say.expires} {token.expires_at === null ? say.never : <TimeAgo at={token.expires_at} />}
        </div>
      </div>
      <Popconfirm
        title={token.is_current ? say.revokeCurrentAsk : say.revokeAsk(token.name)}
        okText={say.revoke}
        cancelText={say.cancel}
        onConfirm={() => revoking.mutate()}
      >
        <Button danger loading={revoking.isPending} aria-label={`${say.revoke} ${token.name}`}>
          {say.revoke}
        </Button>
      </Popconfirm>
    </li>
  );
}

interface Fields {
  name: string;
  lifetime: Lifetime;
}

function NewToken({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { failed } = useTell();
  const [form] = Form.useForm<Fields>();
  const making = useMutation({
    mutationFn: ({ name, lifetime }: Fields) =>
      answer(api.POST('/api/v1/tokens', { body: { name, expires_in_s: LIFETIMES_S[lifetime] } })),
    onError: failed,
    onSuccess: () => client.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  const close = () => {
    onClose();
    making.reset();
    form.resetFields();
  };
  const made = making.data?.token;
  return (
    <Modal
      open={isOpen}
      title={made ? say.tokenMade(making.variables?.name ?? '') : say.newToken}
      destroyOnHidden
      onCancel={close}
      // A dialog that opens without moving takes the focus after its fields did.
      afterOpenChange={(isOpen) => isOpen && form.focusField('name')}
      cancelText={say.cancel}
      okText={made ? say.done : say.make}
      cancelButtonProps={made ? { hidden: true } : {}}
      confirmLoading={making.isPending}
      onOk={() => (made ? close() : form.submit())}
    >
      {made ? (
        <>
          <Alert type="success" showIcon title={say.shownOnce} />
          <div className={styles.secret}>
            <code>{made}</code>
            <Copy text={made} />
          </div>
        </>
      ) : (
        <Form
          form={form}
          layout="vertical"
          requiredMark={false}
          initialValues={{ lifetime: 'month' }}
          onFinish={(fields) => making.mutate(fields)}
        >
          <Form.Item name="name" label={say.tokenName} rules={[{ required: true, message: say.needed }]}>
            <Input maxLength={255} autoFocus />
          </Form.Item>
          <Form.Item name="lifetime" label={say.lifetime}>
            <Select
              options={(Object.keys(LIFETIMES_S) as Lifetime[]).map((value) => ({
                value,
                label: say.lifetimes[value],
              }))}
            />
          </Form.Item>
        </Form>
      )}
    </Modal>
  );
}
