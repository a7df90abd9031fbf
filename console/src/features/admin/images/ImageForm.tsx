import { Form, Input, Switch } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { imagesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { NameItem } from '@/ui/NameItem';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words } from '../words';

interface Fields {
  name: string;
  reference: string;
  description: string;
  framework: string;
  version: string;
  is_default: boolean;
}

/** Add an image to the catalogue, or change one. */
export function ImageForm({ image, onClose }: { image?: Schemas['ImageBody']; onClose: () => void }) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const saving = useSaving({
    form,
    save: ({ name, ...body }: Fields) =>
      answer(api.PUT('/api/v1/images/{name}', { params: { path: { name } }, body })),
    onSaved: ({ name }) => {
      done(say.images.saved(name));
      onClose();
    },
    changes: imagesQuery.queryKey,
  });
  const first: Fields = {
    name: image?.name ?? '',
    reference: image?.reference ?? '',
    description: image?.description ?? '',
    framework: image?.framework ?? '',
    version: image?.version ?? '',
    is_default: image?.is_default ?? false,
  };
  return (
    <FormDialog<Fields>
      form={form}
      title={image ? say.images.edit(image.name) : say.images.add}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={first}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <NameItem label={say.name} bad={say.images.badName} isFixed={Boolean(image)} />
      <Form.Item
        name="reference"
        label={say.images.reference}
        extra={say.images.referenceHelp}
        rules={[{ required: true, pattern: /^\S{1,512}$/, message: say.images.badReference }]}
      >
        <Input />
      </Form.Item>
      <Form.Item name="description" label={say.description}>
        <Input maxLength={4096} />
      </Form.Item>
      <Form.Item name="framework" label={say.images.framework}>
        <Input maxLength={63} />
      </Form.Item>
      <Form.Item name="version" label={say.images.version}>
        <Input maxLength={63} />
      </Form.Item>
      <Form.Item name="is_default" label={say.images.isDefault} valuePropName="checked">
        <Switch />
      </Form.Item>
    </FormDialog>
  );
}
