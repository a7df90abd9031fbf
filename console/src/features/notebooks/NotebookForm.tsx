import { useQuery } from '@tanstack/react-query';
import { AutoComplete, Checkbox, Form, Input, InputNumber, Select } from 'antd';
import { answer, api } from '@/api/client';
import { imagesQuery } from '@/api/platformQueries';
import { keys, queuesQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { FormDialog } from '@/ui/FormDialog';
import { useTold } from '@/ui/told';
import { useSaving } from '@/ui/useSaving';
import { useTell } from '@/ui/useTell';
import styles from './notebooks.module.css';
import { samplesQuery } from './queries';
import { words } from './words';

interface Fields {
  name: string;
  queue: string;
  cpus: number;
  memory: string;
  gpus: number;
  image: string;
  packages: string[];
  data: string[];
  idle_limit: string;
  samples: string[];
}

const UNASKED = { type: '', gpu_type: '', time_limit: '' };
const DURATIONS = ['30m', '2h', '8h', '1d'];

/** What a new notebook runs in. */
export function NotebookForm({ onClose }: { onClose: () => void }) {
  const say = useWords(words);
  const told = useTold();
  const { done } = useTell();
  const [form] = Form.useForm<Fields>();
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data: images = [] } = useQuery(imagesQuery);
  const { data: samples = [] } = useQuery(samplesQuery);
  const usable = queues.filter(({ my_role }) => my_role !== 'viewer').map(({ name }) => name);
  const starting = useSaving({
    form,
    save: (fields: Fields) =>
      answer(api.POST('/api/v1/notebooks', { body: { ...UNASKED, ...fields, image: fields.image ?? '' } })),
    onSaved: ({ name }) => {
      done(say.started(name));
      onClose();
    },
    changes: keys.jobs,
  });
  return (
    <FormDialog<Fields>
      form={form}
      title={say.add}
      okText={say.start}
      cancelText={say.cancel}
      isSaving={starting.isPending}
      first="name"
      initialValues={{
        name: '',
        queue: usable.includes('default') ? 'default' : (usable[0] ?? ''),
        cpus: 1,
        memory: '2GB',
        gpus: 0,
        image: '',
        packages: [],
        data: [],
        idle_limit: '2h',
        samples: ['first-steps.ipynb'],
      }}
      onFinish={(fields) => starting.mutate(fields)}
      onClose={onClose}
    >
      <Form.Item name="name" label={say.name} extra={say.nameHelp}>
        <Input maxLength={255} />
      </Form.Item>
      <Form.Item name="queue" label={say.queue} hidden={usable.length < 2}>
        <Select options={usable.map((value) => ({ value, label: value }))} />
      </Form.Item>
      <div className={styles.sizes}>
        <Form.Item name="cpus" label={say.cpus}>
          <InputNumber className={styles.number} min={0.01} step={1} />
        </Form.Item>
        <Form.Item name="memory" label={say.memory}>
          <Input maxLength={32} />
        </Form.Item>
        <Form.Item name="gpus" label={say.gpus}>
          <InputNumber className={styles.number} min={0} max={1024} precision={0} />
        </Form.Item>
      </div>
      <Form.Item name="image" label={say.image} extra={say.imageHelp}>
        <AutoComplete options={images.map(({ name }) => ({ value: name }))} />
      </Form.Item>
      <Form.Item name="packages" label={say.packages} extra={say.packagesHelp}>
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[' ', ',']} />
      </Form.Item>
      <Form.Item name="data" label={say.data} extra={say.dataHelp}>
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[' ', ',']} />
      </Form.Item>
      <Form.Item name="idle_limit" label={say.idle}>
        <AutoComplete options={DURATIONS.map((value) => ({ value }))} />
      </Form.Item>
      <Form.Item name="samples" label={say.samples}>
        <Checkbox.Group className={styles.samples}>
          {samples.map(({ file, description }) => (
            <Checkbox key={file} value={file}>
              {told(description)}
            </Checkbox>
          ))}
        </Checkbox.Group>
      </Form.Item>
    </FormDialog>
  );
}
