import { useQuery } from '@tanstack/react-query';
import { Form, Input, Select } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { frameworksQuery, strategiesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words as adminWords } from '../words';
import { ImageItem, LastItems, NameItem } from './ChoiceItems';
import { type FrameworkFields, frameworkBody, frameworkFields } from './fields';
import { words } from './words';

interface FrameworkFormProps {
  framework?: Schemas['FrameworkBody'];
  onClose: () => void;
}

/** Add a version of a framework, or change one. */
export function FrameworkForm({ framework, onClose }: FrameworkFormProps) {
  const say = useWords(words);
  const admin = useWords(adminWords);
  const { done } = useTell();
  const { data: strategies = [] } = useQuery(strategiesQuery);
  const [form] = Form.useForm<FrameworkFields>();
  const saving = useSaving({
    form,
    save: (fields: FrameworkFields) => {
      const path = { name: fields.name, version: fields.version };
      return answer(
        api.PUT('/api/v1/frameworks/{name}/{version}', { params: { path }, body: frameworkBody(fields) }),
      );
    },
    onSaved: ({ name, version }) => {
      done(say.frameworkSaved(`${name}:${version}`));
      onClose();
    },
    changes: frameworksQuery.queryKey,
  });
  const isFixed = Boolean(framework);
  const modes = strategies.map(({ name }) => ({ value: name, label: name }));
  return (
    <FormDialog<FrameworkFields>
      form={form}
      title={framework ? say.editFramework(`${framework.name}:${framework.version}`) : say.addFramework}
      okText={admin.save}
      cancelText={admin.cancel}
      isSaving={saving.isPending}
      first="name"
      width={640}
      initialValues={frameworkFields(framework)}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameItem isFixed={isFixed} />
      <NameItem isFixed={isFixed} name="version" label={say.version} />
      <ImageItem />
      <Form.Item name="environment" label={say.requirements} extra={say.requirementsHelp}>
        <Input.TextArea autoSize={{ minRows: 2, maxRows: 8 }} spellCheck={false} />
      </Form.Item>
      <Form.Item name="python" label={say.python} extra={say.pythonHelp}>
        <Input />
      </Form.Item>
      <Form.Item name="path" label={say.path} extra={say.pathHelp}>
        <Input />
      </Form.Item>
      <Form.Item name="strategies" label={say.strategies} extra={say.strategiesHelp}>
        <Select mode="multiple" placeholder={say.all} options={modes} />
      </Form.Item>
      <Form.Item name="strategy" label={say.strategy} extra={say.strategyHelp}>
        <Select options={[{ value: '', label: say.none }, ...modes]} />
      </Form.Item>
      <LastItems />
    </FormDialog>
  );
}
