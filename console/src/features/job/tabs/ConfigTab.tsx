import { DownloadOutlined } from '@ant-design/icons';
import { Button, Radio } from 'antd';
import { useMemo, useState } from 'react';
import { stringify } from 'yaml';
import type { JobDetail } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { saveText } from '@/ui/saveText';
import { TextEditor } from '@/ui/TextEditor';
import styles from '../job.module.css';
import { words } from '../words';

type Form = 'yaml' | 'json';

/** The job file, as it can be submitted again. */
export default function ConfigTab({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const [form, setForm] = useState<Form>('yaml');
  const text = useMemo(
    () =>
      form === 'yaml' ? stringify(job.config, { lineWidth: 0 }) : `${JSON.stringify(job.config, null, 2)}\n`,
    [form, job.config],
  );
  return (
    <div className={styles.stack}>
      <div className={styles.configBar}>
        <Radio.Group
          optionType="button"
          value={form}
          options={[
            { value: 'yaml', label: 'YAML' },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={(event) => setForm(event.target.value)}
        />
        <Copy text={text} label={say.copyConfig} />
        <Button icon={<DownloadOutlined aria-hidden />} onClick={() => saveText(`${job.name}.${form}`, text)}>
          {say.downloadConfig}
        </Button>
        <span className="quiet">{say.configHint}</span>
      </div>
      <div className={styles.config}>
        <TextEditor value={text} language={form} label={say.tabs.config} isReadOnly />
      </div>
    </div>
  );
}
