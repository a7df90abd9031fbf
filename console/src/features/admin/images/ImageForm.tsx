import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Form, Input, Switch } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { imagesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useProblems } from '@/ui/formProblems';
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
  const client = useQueryClient();
  const { done, failed } = useTell();
  const showProblems = useProblems();
  const [form] = Form.useForm<Fields>();
  const saving = useMutation({
    mutationFn: ({ name, ...body }: Fields) =>
      answer(api.PUT('/api/v1/images/{name}', { params: { path: { name } }, body })),
    onSuccess: ({ name }) => {
      done(say.images.saved(name));
      onClose();
    },
    onError: (error) => showProblems(form, error) || failed(error),
    // Not awaited: a form that was refused can be sent again at once.
    onSettled: () => void client.invalidateQueries({ queryKey: imagesQuery.queryKey }),
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
      <Form.Item
        name="name"
        label={say.name}
        rules={[
          { required: true, pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, message: say.images.badName },
        ]}
      >
        <Input disabled={Boolean(image)} />
      </Form.Item>
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
