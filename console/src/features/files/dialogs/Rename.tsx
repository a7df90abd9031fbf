import { Form, Input } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { folderOf, joined } from '../paths';
import type { Entry } from '../queries';
import { words } from '../words';
import { nameRule } from './names';

interface Fields {
  name: string;
}

interface RenameProps {
  storage: string;
  entry: Entry;
  onClose: () => void;
  onDone: () => void;
}

export function Rename({ storage, entry, onClose, onDone }: RenameProps) {
  const say = useWords(words);
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const saving = useSaving({
    form,
    save: ({ name }: Fields) => {
      const target = { storage, path: joined(folderOf(entry.path), name) };
      const body = { source: entry.path, target, replaces: false };
      return answer(api.POST('/api/v1/storages/{name}/move', { params: { path: { name: storage } }, body }));
    },
    onSaved: ({ name }) => {
      done(say.renamed(entry.name, name));
      onClose();
      onDone();
    },
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.renameOf(entry.name)}
      okText={say.rename}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      initialValues={{ name: entry.name }}
      onFinish={(fields) => (fields.name === entry.name ? onClose() : saving.mutate(fields))}
      onClose={onClose}
    >
      <Form.Item name="name" label={say.name} rules={[nameRule(say.badName)]} validateTrigger="onSubmit">
        <Input />
      </Form.Item>
    </FormDialog>
  );
}
