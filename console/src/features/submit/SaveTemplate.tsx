import { Button, Form, Input } from 'antd';
import { useState } from 'react';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useTell } from '@/ui/useTell';
import type { Mapping } from './document';
import { dropTemplate, keepTemplate } from './ownTemplates';
import { words } from './words';

/** Keep the job as it stands, to begin others with. */
export function SaveTemplate({ user, doc }: { user: string; doc: Mapping }) {
  const say = useWords(words);
  const { done } = useTell();
  const [isOpen, setOpen] = useState(false);
  const [form] = Form.useForm<{ name: string }>();
  const save = (name: string) => {
    keepTemplate(user, name, doc);
    setOpen(false);
    done(say.templateSaved(name), () => dropTemplate(user, name));
  };
  return (
    <>
      <Button disabled={Object.keys(doc).length === 0} onClick={() => setOpen(true)}>
        {say.saveTemplate}
      </Button>
      {isOpen && (
        <FormDialog<{ name: string }>
          form={form}
          title={say.saveTemplate}
          okText={say.save}
          cancelText={say.cancel}
          isSaving={false}
          first="name"
          initialValues={{ name: typeof doc.name === 'string' ? doc.name : '' }}
          onFinish={({ name }) => save(name.trim())}
          onClose={() => setOpen(false)}
        >
          <Form.Item
            name="name"
            label={say.templateName}
            extra={say.templateKept}
            rules={[{ required: true, whitespace: true, message: say.templateNeeded }]}
          >
            <Input maxLength={40} />
          </Form.Item>
        </FormDialog>
      )}
    </>
  );
}
