import { DisconnectOutlined, PlusOutlined } from '@ant-design/icons';
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Form, Input, Modal, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import { RiskMenu } from '@/ui/RiskMenu';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import styles from './profile.module.css';
import { words } from './words';

type AccessKey = Schemas['AccessKeyBody'];

const accessKeysQuery = queryOptions({
  queryKey: ['me', 'access-keys'],
  queryFn: async () => (await answer(api.GET('/api/v1/access-keys'))).items,
});

/** Pairs of an ID and a secret, by which clients of other clouds sign their requests. */
export function AccessKeysCard() {
  const say = useWords(words);
  const { data: keys, error } = useQuery(accessKeysQuery);
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title={say.accessKeys}
      extra={
        <Button icon={<PlusOutlined aria-hidden />} onClick={() => setOpen(true)}>
          {say.newAccessKey}
        </Button>
      }
    >
      <p className="quiet">{say.accessKeysHelp}</p>
      {error && <Failure error={error} />}
      {keys === undefined && !error && <Skeleton active title={false} />}
      {keys?.length === 0 && <Nothing title={say.noAccessKeys} />}
      <ul className={styles.tokens}>
        {keys?.map((key) => (
          <AccessKeyLine key={key.id} one={key} />
        ))}
      </ul>
      <NewAccessKey isOpen={isOpen} onClose={() => setOpen(false)} />
    </Card>
  );
}

function AccessKeyLine({ one }: { one: AccessKey }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const revoking = useMutation({
    mutationFn: () =>
      answer(api.DELETE('/api/v1/access-keys/{key_id}', { params: { path: { key_id: one.id } } })),
    onSuccess: () => done(say.accessKeyRevoked),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: accessKeysQuery.queryKey }),
  });
  return (
    <li>
      <div>
        <strong>{one.name}</strong>
        <div className="quiet">
          <code>{one.id}</code> · {say.created} <TimeAgo at={one.created_at} /> · {say.used}{' '}
          {one.last_used_at === null ? say.never : <TimeAgo at={one.last_used_at} />}
        </div>
      </div>
      <RiskMenu
        of={one.name}
        label={say.revoke}
        icon={<DisconnectOutlined aria-hidden />}
        title={say.revokeAsk(one.name)}
        hint={say.revokeAccessKeyHint}
        onOk={() => revoking.mutate()}
      />
    </li>
  );
}

function NewAccessKey({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const say = useWords(words);
  const client = useQueryClient();
  const [form] = Form.useForm<{ name: string }>();
  const making = useMutation({
    mutationFn: ({ name }: { name: string }) => answer(api.POST('/api/v1/access-keys', { body: { name } })),
    onSuccess: () => client.invalidateQueries({ queryKey: accessKeysQuery.queryKey }),
  });
  const close = () => {
    onClose();
    making.reset();
    form.resetFields();
  };
  const made = making.data;
  return (
    <Modal
      open={isOpen}
      title={made ? say.accessKeyMade(made.name) : say.newAccessKey}
      destroyOnHidden
      onCancel={close}
      // A dialog that opens without moving takes the focus after its fields did.
      afterOpenChange={(isOpen) => isOpen && form.focusField('name')}
      cancelText={say.cancel}
      okText={made ? say.done : say.makeAccessKey}
      // Nothing can be taken back here any more.
      cancelButtonProps={made ? { style: { display: 'none' } } : {}}
      confirmLoading={making.isPending}
      onOk={() => (made ? close() : form.submit())}
    >
      {made ? (
        <>
          <Alert type="success" showIcon title={say.secretShownOnce} />
          <Shown label={say.accessKeyId} text={made.id} />
          <Shown label={say.accessKeySecret} text={made.secret} />
        </>
      ) : (
        <Form form={form} layout="vertical" requiredMark={false} onFinish={(fields) => making.mutate(fields)}>
          <Form.Item
            name="name"
            label={say.tokenName}
            rules={[{ required: true, whitespace: true, message: say.needed }]}
          >
            <Input maxLength={255} autoFocus />
          </Form.Item>
          {making.error && <Failure error={making.error} />}
        </Form>
      )}
    </Modal>
  );
}

function Shown({ label, text }: { label: string; text: string }) {
  return (
    <div className={styles.shown}>
      <span className="quiet">{label}</span>
      <div className={styles.secret}>
        <code>{text}</code>
        <Copy text={text} />
      </div>
    </div>
  );
}
