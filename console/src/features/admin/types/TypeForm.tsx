import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Form, Input } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { keys, nodesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words as adminWords } from '../words';
import { LastItems, NameItem } from './ChoiceItems';
import { COUNT, POSITIVE, POSITIVE_OR_NONE, type TypeFields, typeBody, typeFields } from './fields';
import { words } from './words';

/** Add an instance type, or change one. */
export function TypeForm({ type, onClose }: { type?: Schemas['OfferedType']; onClose: () => void }) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { done } = useTell();
  const { data: nodes = [] } = useQuery(nodesQuery);
  const [form] = Form.useForm<TypeFields>();
  const saving = useSaving({
    form,
    save: (fields: TypeFields) =>
      answer(
        api.PUT('/api/v1/instance-types/{name}', {
          params: { path: { name: fields.name } },
          body: typeBody(fields),
        }),
      ),
    onSaved: ({ name }) => {
      done(say.typeSaved(name));
      onClose();
    },
    changes: keys.platform,
  });
  const cards = [...new Set(nodes.flatMap(({ gpus }) => gpus.map((gpu) => gpu.type)).filter(Boolean))];
  return (
    <FormDialog<TypeFields>
      form={form}
      title={type ? say.editType(type.name) : say.addType}
      okText={admin.save}
      cancelText={admin.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={typeFields(type)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameItem isFixed={Boolean(type)} />
      <div className={styles.amounts}>
        <Form.Item
          name="cpus"
          label={admin.cpus}
          rules={[{ required: true, pattern: POSITIVE, message: say.badNumber }]}
        >
          <Input inputMode="decimal" />
        </Form.Item>
        <Form.Item
          name="memory_bytes"
          label={say.inGb(admin.memory)}
          rules={[{ required: true, pattern: POSITIVE, message: say.badNumber }]}
        >
          <Input inputMode="decimal" />
        </Form.Item>
        <Form.Item name="gpus" label={admin.gpus} rules={[{ pattern: COUNT, message: say.badWhole }]}>
          <Input inputMode="numeric" placeholder="0" />
        </Form.Item>
      </div>
      <Form.Item name="gpu_type" label={say.gpuType} extra={say.gpuTypeHelp}>
        <AutoComplete allowClear options={cards.map((value) => ({ value }))} />
      </Form.Item>
      <Form.Item
        name="shm_bytes"
        label={say.inGb(say.shm)}
        extra={say.shmHelp}
        rules={[{ pattern: POSITIVE_OR_NONE, message: say.badNumber }]}
      >
        <Input inputMode="decimal" />
      </Form.Item>
      <LastItems />
    </FormDialog>
  );
}
