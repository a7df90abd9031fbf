import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Form, Input, InputNumber, Modal } from 'antd';
import { ApiError, answer, api, type JobDetail, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { useTell } from '@/ui/useTell';
import { words } from './words';

type Change = Schemas['JobChange'];

interface EditDialogProps {
  job: JobDetail;
  onClose: () => void;
}

/** Name, description and priority; the priority only while it matters. */
export default function EditDialog({ job, onClose }: EditDialogProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const { failed } = useTell();
  const [form] = Form.useForm<Change>();
  const saving = useMutation({
    mutationFn: (change: Change) =>
      answer(api.PATCH('/api/v1/jobs/{job_id}', { params: { path: { job_id: job.id } }, body: change })),
    onSuccess: (changed) => {
      client.setQueryData(keys.job(job.id), changed);
      onClose();
    },
    onError: (error) => {
      const problems = error instanceof ApiError ? error.problems : [];
      const fields = problems.map(({ path, message }) => ({ name: path as keyof Change, errors: [message] }));
      if (fields.length > 0) form.setFields(fields);
      else failed(error);
    },
  });
  const { name, description, priority } = job;
  return (
    <Modal
      open
      title={say.editTitle}
      okText={say.save}
      cancelText={say.cancel}
      confirmLoading={saving.isPending}
      destroyOnHidden
      onCancel={onClose}
      // A dialog that opens without moving takes the focus after its fields did.
      afterOpenChange={(isOpen) => isOpen && form.focusField('name')}
      onOk={() => form.submit()}
    >
      <Form
        form={form}
        layout="vertical"
        requiredMark={false}
        preserve={false}
        initialValues={{ name, description, priority }}
        onFinish={(change) => saving.mutate(change)}
      >
        <Form.Item name="name" label={say.name} rules={[{ required: true, message: say.needed }]}>
          <Input maxLength={255} autoFocus />
        </Form.Item>
        <Form.Item name="description" label={say.description}>
          <Input.TextArea maxLength={4096} autoSize={{ minRows: 2, maxRows: 8 }} />
        </Form.Item>
        {!isFinal(job.state) && (
          <Form.Item name="priority" label={say.priority} extra={say.priorityHelp}>
            <InputNumber min={-1000} max={1000} precision={0} />
          </Form.Item>
        )}
      </Form>
    </Modal>
  );
}
