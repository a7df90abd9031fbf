import { Form, Input, Radio, Select } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { secretsQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from './words';

interface SecretFormProps {
  /** The secret to replace; a new one when absent. */
  secret?: Schemas['SecretBody'];
  queues: readonly string[];
  onClose: () => void;
}

interface Fields {
  name: string;
  kind: Schemas['SecretKind'];
  queue: string;
  value?: string;
  server?: string;
  username?: string;
  password?: string;
}

const MOST_OF_A_VALUE = 65_536;

/** Set a secret, or replace the value of one. */
export function SecretForm({ secret, queues, onClose }: SecretFormProps) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const kind = Form.useWatch('kind', form) ?? secret?.kind ?? 'value';
  const setting = useSaving({
    form,
    save: ({ name, queue, ...content }: Fields) =>
      answer(
        api.PUT('/api/v1/secrets/{name}', {
          params: { path: { name } },
          body: { ...content, queue: queue || null },
        }),
      ),
    onSaved: ({ name }) => {
      done(say.saved(name));
      onClose();
    },
    changes: secretsQuery.queryKey,
  });
  const needed = [{ required: true, message: say.needed }];
  return (
    <FormDialog<Fields>
      form={form}
      title={secret ? `${say.change} ${secret.name}` : say.set}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={setting.isPending}
      first="name"
      initialValues={{
        name: secret?.name ?? '',
        kind: secret?.kind ?? 'value',
        queue: secret?.queue ?? '',
      }}
      onFinish={(fields) => setting.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="name"
        label={say.name}
        rules={[{ required: true, pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, message: say.badName }]}
      >
        <Input disabled={Boolean(secret)} />
      </Form.Item>
      <Form.Item name="kind" label={say.kind}>
        <Radio.Group
          disabled={Boolean(secret)}
          optionType="button"
          options={(['value', 'registry'] as const).map((value) => ({ value, label: say.kinds[value] }))}
        />
      </Form.Item>
      <Form.Item name="queue" label={say.of} extra={say.ownerHelp} hidden={queues.length === 0}>
        <Select
          disabled={Boolean(secret)}
          options={[
            { value: '', label: say.mine },
            ...queues.map((value) => ({ value, label: say.queue(value) })),
          ]}
        />
      </Form.Item>
      {kind === 'value' ? (
        <Form.Item name="value" label={say.value} rules={needed} extra={say.valueHelp}>
          <Input.TextArea
            autoSize={{ minRows: 2, maxRows: 8 }}
            maxLength={MOST_OF_A_VALUE}
            spellCheck={false}
          />
        </Form.Item>
      ) : (
        <>
          <Form.Item name="server" label={say.server} rules={needed} extra={say.serverHelp}>
            <Input maxLength={260} />
          </Form.Item>
          <Form.Item name="username" label={say.username} rules={needed}>
            <Input maxLength={255} autoComplete="off" />
          </Form.Item>
          <Form.Item name="password" label={say.password} rules={needed}>
            <Input.Password maxLength={4096} autoComplete="new-password" />
          </Form.Item>
        </>
      )}
    </FormDialog>
  );
}
