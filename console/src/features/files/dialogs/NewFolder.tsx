import { useQueryClient } from '@tanstack/react-query';
import { Form, Input } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { joined } from '../paths';
import { renewFiles } from '../queries';
import { words } from '../words';
import { nameRule } from './names';

interface Fields {
  path: string;
}

export function NewFolder({
  storage,
  path,
  onClose,
}: {
  storage: string;
  path: string;
  onClose: () => void;
}) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const saving = useSaving({
    form,
    save: (fields: Fields) => {
      const body = { path: joined(path, fields.path), is_new: true, numbered: false };
      return answer(
        api.POST('/api/v1/storages/{name}/folders', { params: { path: { name: storage } }, body }),
      );
    },
    onSaved: ({ name }) => {
      done(say.folderMade(name));
      void renewFiles(client, storage);
      onClose();
    },
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.newFolder}
      okText={say.makeFolder}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="path"
      initialValues={{ path: '' }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item
        name="path"
        label={say.folderName}
        rules={[nameRule(say.badName)]}
        validateTrigger="onSubmit"
      >
        <Input />
      </Form.Item>
    </FormDialog>
  );
}
