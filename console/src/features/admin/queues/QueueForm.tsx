import { useQuery } from '@tanstack/react-query';
import { Form, Input, Select, Switch } from 'antd';
import { answer, api } from '@/api/client';
import { enginesQuery, keys, nodesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { NameItem } from '@/ui/NameItem';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words } from '../words';
import {
  DAYS,
  type Fields,
  fieldsOf,
  KEPT,
  maximumOf,
  NUMBER,
  readEnvironments,
  retentionOf,
  shareOf,
} from './fields';
import type { Queue } from './QueuesPage';

/** Add a queue, or change one. */
export function QueueForm({ queue, onClose }: { queue?: Queue; onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const { data: nodes = [] } = useQuery(nodesQuery);
  const { data: engines = [] } = useQuery(enginesQuery);
  const [form] = Form.useForm<Fields>();
  const saving = useSaving({
    form,
    save: (fields: Fields) => {
      const body = {
        description: fields.description,
        nodes: fields.nodes,
        engine: fields.engine ?? '',
        is_shared: fields.is_shared,
        share: shareOf(fields, 'share'),
        maximum: maximumOf(fields),
        environments: readEnvironments(fields.environments).found,
        retention: retentionOf(fields),
      };
      return answer(
        queue
          ? api.PATCH('/api/v1/queues/{name}', { params: { path: { name: queue.name } }, body })
          : api.POST('/api/v1/queues', {
              body: { ...body, name: fields.name, is_open: true },
            }),
      );
    },
    onSaved: ({ name }) => {
      done(queue ? say.queues.changed(name) : say.queues.added(name));
      onClose();
    },
    changes: keys.platform,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={queue ? say.queues.edit(queue.name) : say.queues.add}
      okText={queue ? say.save : say.queues.add}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      width={640}
      initialValues={fieldsOf(queue)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameItem label={say.name} bad={say.queues.badName} isFixed={Boolean(queue)} />
      <Form.Item name="description" label={say.description}>
        <Input maxLength={4096} />
      </Form.Item>
      <Share kind="share" title={say.queues.share} help={say.queues.shareHelp} />
      <Share kind="maximum" title={say.queues.maximum} help={say.queues.maximumHelp} />
      <Form.Item name="nodes" label={say.queues.nodes} extra={say.queues.nodesHelp}>
        <Select
          mode="tags"
          placeholder={say.queues.allNodes}
          options={nodes.map(({ name }) => ({ value: name, label: name }))}
        />
      </Form.Item>
      {/* With one engine there is nothing to choose, unless the queue is bound to one that is gone. */}
      {(engines.length > 1 || queue?.engine) && (
        <Form.Item name="engine" label={say.queues.engine} extra={say.queues.engineHelp}>
          <Select
            options={[
              { value: '', label: say.queues.anyEngine },
              ...engines.map(({ name }) => ({ value: name, label: name })),
            ]}
          />
        </Form.Item>
      )}
      <Form.Item
        name="is_shared"
        label={say.queues.shared}
        extra={say.queues.sharedHelp}
        valuePropName="checked"
      >
        <Switch />
      </Form.Item>
      <Keeping />
      <Form.Item
        name="environments"
        label={say.queues.environments}
        extra={say.queues.environmentsHelp}
        rules={[
          {
            validator: (_rule, text: string) => {
              const { badLine } = readEnvironments(text);
              return badLine
                ? Promise.reject(new Error(say.queues.environmentsBad(badLine)))
                : Promise.resolve();
            },
          },
        ]}
      >
        <Input.TextArea autoSize={{ minRows: 1, maxRows: 6 }} spellCheck={false} />
      </Form.Item>
    </FormDialog>
  );
}

/** How long logs, results, work folders and code of its jobs are kept. */
function Keeping() {
  const say = useWords(words);
  return (
    <fieldset className={styles.fieldset}>
      <legend>{say.queues.keep}</legend>
      <p className="quiet">{say.queues.keepHelp}</p>
      <div className={styles.amounts}>
        {KEPT.map((part) => (
          <Form.Item
            key={part}
            name={`keep_${part}`}
            label={say.queues.kept[part]}
            rules={[{ pattern: DAYS, message: say.queues.badDays }]}
          >
            <Input inputMode="decimal" placeholder={say.queues.keepDefault} />
          </Form.Item>
        ))}
      </div>
    </fieldset>
  );
}

interface ShareProps {
  kind: 'share' | 'maximum';
  title: string;
  help: string;
}

/** An amount in three boxes; memory counts in GB. */
function Share({ kind, title, help }: ShareProps) {
  const say = useWords(words);
  const rules = [{ pattern: NUMBER, message: say.queues.badNumber }];
  return (
    <fieldset className={styles.fieldset}>
      <legend>{title}</legend>
      <p className="quiet">{help}</p>
      <div className={styles.amounts}>
        <Form.Item name={`${kind}_cpus`} label={say.cpus} rules={rules}>
          <Input inputMode="decimal" />
        </Form.Item>
        <Form.Item name={`${kind}_gb`} label={`${say.memory} (GB)`} rules={rules}>
          <Input inputMode="decimal" />
        </Form.Item>
        <Form.Item
          name={`${kind}_gpus`}
          label={say.gpus}
          rules={[{ pattern: /^\d*$/, message: say.queues.badNumber }]}
        >
          <Input inputMode="numeric" />
        </Form.Item>
      </div>
    </fieldset>
  );
}
