import { Form, Input } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { inferenceQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words as adminWords } from '../words';
import { ImageItem, LastItems, NameItem } from './ChoiceItems';
import { type InferenceFields, inferenceBody, inferenceFields } from './fields';
import { words } from './words';

interface InferenceFormProps {
  environment?: Schemas['InferenceBody'];
  onClose: () => void;
}

/** Add an inference environment, or change one. */
export function InferenceForm({ environment, onClose }: InferenceFormProps) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { done } = useTell();
  const [form] = Form.useForm<InferenceFields>();
  const saving = useSaving({
    form,
    save: (fields: InferenceFields) => {
      const params = { path: { name: fields.name } };
      return answer(
        api.PUT('/api/v1/inference-environments/{name}', { params, body: inferenceBody(fields) }),
      );
    },
    onSaved: ({ name }) => {
      done(say.inferenceSaved(name));
      onClose();
    },
    changes: inferenceQuery.queryKey,
  });
  return (
    <FormDialog<InferenceFields>
      form={form}
      title={environment ? say.editInference(environment.name) : say.addInference}
      okText={admin.save}
      cancelText={admin.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={inferenceFields(environment)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameItem isFixed={Boolean(environment)} />
      <ImageItem />
      <Form.Item name="framework" label={say.framework}>
        <Input maxLength={128} />
      </Form.Item>
      <Form.Item name="version" label={say.version}>
        <Input maxLength={128} />
      </Form.Item>
      <LastItems />
    </FormDialog>
  );
}
