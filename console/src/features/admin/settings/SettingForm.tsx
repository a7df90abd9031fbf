import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button, Form, Input } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { settingsQuery } from '@/api/platformQueries';
import { keys } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { Coded } from '@/ui/Coded';
import { FormDialog } from '@/ui/FormDialog';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import { words as adminWords } from '../words';
import { meaningOf } from './meanings';

interface Fields {
  value: string;
}

/** Those that may hold nothing: no bound. */
const OPTIONAL = new Set(['idle_limit', 'job_quota', 'person_quota']);

/** Change a setting while the server runs; what is no value of it, the server says. */
export function SettingForm({ setting, onClose }: { setting: Schemas['SettingBody']; onClose: () => void }) {
  const admin = useWords(adminWords);
  const say = admin.settings;
  const { language } = useLanguage();
  const { done, failed } = useTell();
  const client = useQueryClient();
  const [form] = Form.useForm<Fields>();
  const { name, value, help, source } = setting;
  const isOptional = OPTIONAL.has(name);
  const params = { path: { name } };
  const onSaved = () => {
    done(say.changed(name));
    // How long the trash is kept stands on other pages too.
    void client.invalidateQueries({ queryKey: keys.platform });
    void client.invalidateQueries({ queryKey: settingsQuery.queryKey });
    onClose();
  };
  const saving = useSaving({
    form,
    save: (wanted: Fields) => {
      const typed = wanted.value.trim();
      const body = { value: typed === '' && isOptional ? null : typed };
      return answer(api.PUT('/api/v1/settings/{name}', { params, body }));
    },
    onSaved,
  });
  const resetting = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/settings/{name}', { params })),
    onSuccess: onSaved,
    onError: failed,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.editOf(name)}
      okText={admin.save}
      cancelText={admin.cancel}
      isSaving={saving.isPending}
      first="value"
      initialValues={{ value: value === null || value === undefined ? '' : String(value) }}
      onFinish={(fields) => saving.mutate(fields)}
      onClose={onClose}
    >
      <p>
        <Coded text={meaningOf(name, help, language)} />
      </p>
      <Form.Item name="value" label={say.value} extra={isOptional ? say.emptyHelp : undefined}>
        <Input />
      </Form.Item>
      {source === 'console' && <Button onClick={() => resetting.mutate()}>{say.reset}</Button>}
    </FormDialog>
  );
}
