import { Checkbox, Form, type FormInstance, Input, Select } from 'antd';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { modelKeys } from './queries';
import { words } from './words';

type Model = Schemas['ModelDetail'];

interface AliasProps {
  model: Model;
  number: number;
  onClose: () => void;
}

export function AliasDialog({ model, number, onClose }: AliasProps) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<{ alias: string }>();
  const saving = useSaving({
    form,
    changes: modelKeys,
    save: ({ alias }: { alias: string }) =>
      answer(
        api.PUT('/api/v1/models/{model}/aliases/{alias}', {
          params: { path: { model: model.id, alias } },
          body: { version: String(number) },
        }),
      ),
    onSaved: () => {
      done(say.aliasSet(form.getFieldValue('alias') as string, number));
      onClose();
    },
  });
  return (
    <FormDialog
      form={form}
      title={say.aliasFor(number)}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="alias"
      initialValues={{ alias: '' }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item name="alias" label={say.alias} extra={say.aliasHint} rules={[{ required: true }]}>
        <Input maxLength={63} />
      </Form.Item>
    </FormDialog>
  );
}

interface EditFields {
  description: string;
  tags: string[];
  shared: boolean;
}

export function EditDialog({ model, onClose }: { model: Model; onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<EditFields>();
  const saving = useSaving({
    form,
    changes: modelKeys,
    save: (body: EditFields) =>
      answer(api.PATCH('/api/v1/models/{model}', { params: { path: { model: model.id } }, body })),
    onSaved: () => {
      done(say.saved);
      onClose();
    },
  });
  return (
    <FormDialog
      form={form}
      title={model.name}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="description"
      initialValues={{ description: model.description, tags: model.tags, shared: model.is_shared }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item name="description" label={say.description}>
        <Input.TextArea autoSize maxLength={4096} />
      </Form.Item>
      <Form.Item name="tags" label={say.tags}>
        <Select mode="tags" open={false} />
      </Form.Item>
      <Form.Item name="shared" valuePropName="checked">
        <Checkbox>{say.share}</Checkbox>
      </Form.Item>
    </FormDialog>
  );
}

type NewVersion = Schemas['NewVersion'];

/** Register a version; the dialog closes when it is there. */
function useRegistering<Fields extends { name: string }>(
  form: FormInstance<Fields>,
  bodyOf: (fields: Fields) => NewVersion,
  onClose: () => void,
) {
  const say = useWords(words);
  const { done } = useTell();
  return useSaving({
    form,
    changes: modelKeys,
    save: (fields: Fields) => answer(api.POST('/api/v1/models', { body: bodyOf(fields) })),
    onSaved: ({ model, number }) => {
      done(say.done(model, number));
      onClose();
    },
  });
}

interface NewFields {
  name: string;
  place: 'output' | 'checkpoints' | 'work';
  path: string;
  description: string;
}

/** Make files of a job a version of a model. */
export function RegisterDialog({ job, onClose }: { job: JobDetail; onClose: () => void }) {
  const say = useWords(words);
  const [form] = Form.useForm<NewFields>();
  const saving = useRegistering(
    form,
    ({ name, place, path, description }) => ({
      name,
      description,
      job: { job: job.id, place, path },
      aliases: [],
    }),
    onClose,
  );
  const places = Object.entries(say.places).map(([value, label]) => ({ value, label }));
  return (
    <FormDialog
      form={form}
      title={say.registerOf(job.name)}
      okText={say.registerOk}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={{ name: job.name, place: 'output', path: '', description: '' }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameField />
      <Form.Item name="place" label={say.place}>
        <Select options={places} />
      </Form.Item>
      <Form.Item name="path" label={say.path} extra={say.pathHint}>
        <Input maxLength={1024} />
      </Form.Item>
      <DescriptionField />
    </FormDialog>
  );
}

interface StoredProps {
  storage: string;
  path: string;
  /** What the model is called unless somebody says otherwise. */
  name: string;
  onClose: () => void;
}

/** Make a file or a folder of a storage a version of a model. */
export function RegisterStoredDialog({ storage, path, name, onClose }: StoredProps) {
  const say = useWords(words);
  const [form] = Form.useForm<Pick<NewFields, 'name' | 'description'>>();
  const saving = useRegistering(
    form,
    (fields) => ({ ...fields, storage: { storage, path }, aliases: [] }),
    onClose,
  );
  return (
    <FormDialog
      form={form}
      title={say.registerOf(`${storage}:${path}`)}
      okText={say.registerOk}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={{ name, description: '' }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameField />
      <DescriptionField />
    </FormDialog>
  );
}

function NameField() {
  const say = useWords(words);
  return (
    <Form.Item name="name" label={say.name} extra={say.nameHint} rules={[{ required: true }]}>
      <Input maxLength={128} />
    </Form.Item>
  );
}

function DescriptionField() {
  const say = useWords(words);
  return (
    <Form.Item name="description" label={say.description}>
      <Input.TextArea autoSize maxLength={4096} />
    </Form.Item>
  );
}
