import { useQuery } from '@tanstack/react-query';
import { Form, Input, InputNumber, Select } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { alertRulesQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from './words';

type Channel = Schemas['ChannelBody'];

interface RuleFormProps {
  /** The rule to change; a new one when absent. */
  rule?: Schemas['RuleBody'];
  queues: readonly string[];
  channels: readonly Channel[];
  onClose: () => void;
}

interface Fields {
  on: Schemas['RuleChange']['on'];
  level: Channel['quiet_level'];
  queue: string;
  channels: string[];
  after?: number | null;
  every?: number | null;
  metric?: string;
  above?: number | null;
  below?: number | null;
}

const OF_JOBS = [
  'failed',
  'succeeded',
  'stopped',
  'finished',
  'started',
  'retried',
  'preempted',
  'hang',
  'deadline',
  'overtime',
  'no_progress',
  'metric',
] as const;
const OF_PLATFORM = ['node', 'disk'] as const;
const LEVELS = ['info', 'warning', 'minor', 'major', 'critical'] as const;
const MINUTE_S = 60;

/** Have something told of all one's jobs, or of all jobs of a queue. */
export function RuleForm({ rule, queues, channels, onClose }: RuleFormProps) {
  const say = useWords(words);
  const { done } = useTell();
  const { data: me } = useQuery(sessionQuery);
  const [form] = Form.useForm<Fields>();
  const on = Form.useWatch('on', form) ?? [];
  const queue = Form.useWatch('queue', form) ?? '';
  const saving = useSaving({
    form,
    save: ({ queue, after, every, metric, ...fields }: Fields) => {
      const body = {
        ...fields,
        metric: metric ?? '',
        after_s: after ? after * MINUTE_S : null,
        every_s: every ? every * MINUTE_S : null,
      };
      if (!rule) return answer(api.POST('/api/v1/alerts/rules', { body: { ...body, queue: queue || null } }));
      const params = { path: { rule_id: rule.id } };
      return answer(api.PUT('/api/v1/alerts/rules/{rule_id}', { params, body }));
    },
    onSaved: () => {
      done(say.savedRule);
      onClose();
    },
    changes: alertRulesQuery.queryKey,
  });
  const needsLength = on.includes('overtime') || on.includes('no_progress');
  const offered = me?.is_admin && !queue ? [...OF_JOBS, ...OF_PLATFORM] : OF_JOBS;
  const usable = channels.filter((one) => (one.queue ?? '') === queue);
  return (
    <FormDialog<Fields>
      form={form}
      title={rule ? say.changeRule : say.addRule}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="on"
      initialValues={valuesOf(rule)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item name="on" label={say.on} rules={[{ required: true, message: say.needed }]}>
        <Select mode="multiple" options={offered.map((value) => ({ value, label: say.events[value] }))} />
      </Form.Item>
      <Form.Item name="level" label={say.level}>
        <Select options={LEVELS.map((value) => ({ value, label: say.levels[value] }))} />
      </Form.Item>
      <Form.Item name="queue" label={say.of} hidden={queues.length === 0}>
        <Select
          disabled={Boolean(rule)}
          options={[
            { value: '', label: say.mine },
            ...queues.map((value) => ({ value, label: say.queue(value) })),
          ]}
        />
      </Form.Item>
      <Form.Item name="channels" label={say.through} extra={say.throughHelp}>
        <Select mode="multiple" options={usable.map(({ id, name }) => ({ value: id, label: name }))} />
      </Form.Item>
      <Form.Item
        name="after"
        label={say.after}
        hidden={!needsLength}
        rules={[{ required: needsLength, message: say.needed }]}
      >
        <InputNumber min={1} />
      </Form.Item>
      {on.includes('metric') && (
        <>
          <Form.Item name="metric" label={say.metric} rules={[{ required: true, message: say.needed }]}>
            <Input maxLength={255} />
          </Form.Item>
          <Form.Item name="above" label={say.above}>
            <InputNumber />
          </Form.Item>
          <Form.Item name="below" label={say.below}>
            <InputNumber />
          </Form.Item>
        </>
      )}
      <Form.Item name="every" label={say.every}>
        <InputNumber min={1} />
      </Form.Item>
    </FormDialog>
  );
}

/** What the form begins with. */
function valuesOf(rule: Schemas['RuleBody'] | undefined): Partial<Fields> {
  if (!rule) return { on: ['failed'], level: 'major', queue: '', channels: [] };
  const { on, level, channels, metric, above, below } = rule;
  return {
    on: on as Fields['on'],
    level,
    channels,
    metric,
    above,
    below,
    queue: rule.queue ?? '',
    after: rule.after_s == null ? null : rule.after_s / MINUTE_S,
    every: rule.every_s == null ? null : rule.every_s / MINUTE_S,
  };
}
