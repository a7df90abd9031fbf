import { DisconnectOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Alert, App, Button, Form, Input, Modal, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { tokensQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { Card, Nothing } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
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
        <div className={styles.tools}>
          <RevokeOthers tokens={tokens ?? []} />
          <Button icon={<PlusOutlined aria-hidden />} onClick={() => setOpen(true)}>
            {say.newToken}
          </Button>
        </div>
      }
    >
      <p className="quiet">{say.tokensHelp}</p>
      {tokens === undefined && <Skeleton active title={false} />}
      {tokens?.length === 0 && <Nothing title={say.noTokens} />}
      <ul className={styles.tokens}>
        {tokens?.toSorted(currentFirst).map((token) => (
          <TokenLine key={token.id} token={token} />
        ))}
      </ul>
      <NewToken isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
}

type Token = Schemas['TokenBody'];

const currentFirst = (one: Token, other: Token) => Number(other.is_current) - Number(one.is_current);

/** All but the session of this browser: for whoever has lost a laptop. */
function RevokeOthers({ tokens }: { tokens: readonly Token[] }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  const nOthers = tokens.filter(({ is_current }) => !is_current).length;
  const revoking = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/tokens')),
    onSuccess: ({ n_revoked }) => done(say.revokedOthers(n_revoked)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  if (nOthers === 0) return null;
  const ask = () =>
    modal.confirm({
      title: say.revokeOthersAsk(nOthers),
      content: say.revokeOthersHint,
      okText: say.revoke,
      cancelText: say.cancel,
      okButtonProps: { danger: true },
      onOk: () => revoking.mutate(),
    });
  return <Button onClick={() => void ask()}>{say.revokeOthers}</Button>;
}

function TokenLine({ token }: { token: Token }) {
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
        <strong>{nameOf(token.name, say)}</strong>
        {token.is_current && <span className={styles.current}>{say.thisBrowser}</span>}
        <div className="quiet">
          {say.created} <TimeAgo at={token.created_at} /> · {say.used} <TimeAgo at={token.last_used_at} /> ·{' '}
          {say.expires} {token.expires_at === null ? say.never : <TimeAgo at={token.expires_at} />}
        </div>
      </div>
      <RiskMenu
        of={token.name}
        label={say.revoke}
        icon={<DisconnectOutlined aria-hidden />}
        title={token.is_current ? say.revokeCurrentAsk : say.revokeAsk(token.name)}
        hint={token.is_current ? say.revokeCurrentHint : say.revokeHint}
        onOk={() => revoking.mutate()}
      />
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
      // Nothing can be taken back here any more.
      cancelButtonProps={made ? { style: { display: 'none' } } : {}}
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

/** What a token is called: those that programs made have names of theirs. */
function nameOf(name: string, say: (typeof words)['en']): string {
  const machine = /^this machine \((.*)\)$/.exec(name)?.[1];
  return machine ? say.thisMachine(machine) : (say.madeBy[name] ?? name);
}
