import { useQueryClient } from '@tanstack/react-query';
import { Form, Input, Switch } from 'antd';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { putJob } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { isFinal } from '@/ui/jobState';
import { useSaving } from '@/ui/useSaving';
import { WholeItem } from '@/ui/WholeItem';
import { words } from './words';

type Change = Schemas['JobChange'];

interface EditDialogProps {
  job: JobDetail;
  onClose: () => void;
}

/** Name, description, who may look into it, and the priority while that matters. */
export default function EditDialog({ job, onClose }: EditDialogProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const [form] = Form.useForm<Change>();
  const saving = useSaving({
    form,
    save: (change: Change) =>
      answer(api.PATCH('/api/v1/jobs/{job_id}', { params: { path: { job_id: job.id } }, body: change })),
    onSaved: async (changed) => {
      await putJob(client, job.id, changed);
      onClose();
    },
  });
  const { name, description, priority, is_shared: shared } = job;
  return (
    <FormDialog<Change>
      form={form}
      title={say.editTitle}
      okText={say.save}
      cancelText={say.cancel}
      isSaving={saving.isPending}
      first="name"
      isStrict
      initialValues={{ name, description, priority, shared }}
      onFinish={(change) => saving.mutate(change)}
      onClose={onClose}
    >
      <Form.Item name="name" label={say.name} rules={[{ required: true, message: say.needed }]}>
        <Input maxLength={255} />
      </Form.Item>
      <Form.Item name="description" label={say.description}>
        <Input.TextArea maxLength={4096} autoSize={{ minRows: 2, maxRows: 8 }} />
      </Form.Item>
      <Form.Item name="shared" label={say.shared} extra={say.sharedHelp} valuePropName="checked">
        <Switch />
      </Form.Item>
      {!isFinal(job.state) && (
        <WholeItem name="priority" label={say.priority} extra={say.priorityHelp} least={-1000} most={1000} />
      )}
    </FormDialog>
  );
}
