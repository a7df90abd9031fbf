import { Form, Input, Select, Switch } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { channelsQuery } from '@/api/platformQueries';
import { useLanguage, useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from './words';

type Channel = Schemas['ChannelBody'];

interface ChannelFormProps {
  /** The channel to change; a new one when absent. */
  channel?: Channel;
  queues: readonly string[];
  onClose: () => void;
}

interface Fields {
  name: string;
  kind: Channel['kind'];
  queue: string;
  address?: string;
  secret?: string;
  language: Channel['language'];
  zone: string;
  quiet: string;
  quiet_level: Channel['quiet_level'];
  is_enabled: boolean;
}

const KINDS = ['mail', 'webhook', 'dingtalk', 'wecom', 'feishu', 'slack'] as const;
const LEVELS = ['info', 'warning', 'minor', 'major', 'critical'] as const;

const save = (channel: Channel | undefined, { kind, queue, address, secret, ...fields }: Fields) =>
  channel
    ? answer(
        api.PATCH('/api/v1/alerts/channels/{channel_id}', {
          params: { path: { channel_id: channel.id } },
          body: { ...fields, ...(address ? { address } : {}), ...(secret ? { secret } : {}) },
        }),
      )
    : answer(
        api.POST('/api/v1/alerts/channels', {
          body: { ...fields, kind, queue: queue || null, address: address ?? '', secret: secret ?? '' },
        }),
      );

/** Add a channel, or change one. */
export function ChannelForm({ channel, queues, onClose }: ChannelFormProps) {
  const say = useWords(words);
  const { language } = useLanguage();
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const saving = useSaving({
    form,
    save: (fields: Fields) => save(channel, fields),
    onSaved: ({ name }) => {
      done(say.savedChannel(name));
      onClose();
    },
    changes: channelsQuery.queryKey,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={channel ? `${say.change} ${channel.name}` : say.addChannel}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={{
        name: channel?.name ?? '',
        kind: channel?.kind ?? 'mail',
        queue: channel?.queue ?? '',
        language: channel?.language ?? language,
        zone: channel?.zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC',
        quiet: channel?.quiet ?? '',
        quiet_level: channel?.quiet_level ?? 'critical',
        is_enabled: channel?.is_enabled ?? true,
      }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="name"
        label={say.name}
        rules={[{ required: true, pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, message: say.badName }]}
      >
        <Input />
      </Form.Item>
      <Form.Item name="kind" label={say.kind}>
        <Select
          disabled={Boolean(channel)}
          options={KINDS.map((value) => ({ value, label: say.kinds[value] }))}
        />
      </Form.Item>
      <Form.Item name="queue" label={say.of} hidden={queues.length === 0}>
        <Select
          disabled={Boolean(channel)}
          options={[
            { value: '', label: say.mine },
            ...queues.map((value) => ({ value, label: say.queue(value) })),
          ]}
        />
      </Form.Item>
      <Form.Item
        name="address"
        label={say.address}
        extra={channel ? say.addressKept : say.addressHelp}
        rules={[{ required: !channel, message: say.needed }]}
      >
        <Input maxLength={2048} autoComplete="off" spellCheck={false} />
      </Form.Item>
      <Form.Item name="secret" label={say.secret} extra={say.secretHelp}>
        <Input.Password maxLength={1024} autoComplete="new-password" />
      </Form.Item>
      <Form.Item name="language" label={say.language}>
        <Select options={(['en', 'zh'] as const).map((value) => ({ value, label: say.languages[value] }))} />
      </Form.Item>
      <Form.Item name="quiet" label={say.quiet} extra={say.quietHelp}>
        <Input maxLength={16} />
      </Form.Item>
      <Form.Item name="quiet_level" label={say.quietLevel}>
        <Select options={LEVELS.map((value) => ({ value, label: say.levels[value] }))} />
      </Form.Item>
      <Form.Item name="zone" label={say.zone}>
        <Input maxLength={64} />
      </Form.Item>
      <Form.Item name="is_enabled" label={say.isEnabled} valuePropName="checked">
        <Switch />
      </Form.Item>
    </FormDialog>
  );
}
