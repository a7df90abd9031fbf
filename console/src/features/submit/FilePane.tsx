import { DownloadOutlined, UploadOutlined } from '@ant-design/icons';
import { Alert, App, Button, Segmented, Skeleton, Tooltip } from 'antd';
import { type DragEvent, lazy, Suspense, useRef } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { sentence } from '@/ui/formProblems';
import { useDetail, useTold } from '@/ui/told';
import { Became } from './Became';
import type { Mapping } from './document';
import type { Draft } from './draft';
import type { Field } from './schema';
import styles from './submit.module.css';
import { type Format, hasComments, readText, type TextFault, writeText } from './text';
import { words } from './words';

const TextEditor = lazy(async () => ({ default: (await import('@/ui/TextEditor')).TextEditor }));
const MOST_BYTES = 1024 ** 2;

interface FilePaneProps {
  draft: Draft;
  root: Field;
  onType: (text: string) => void;
  onFormat: (format: Format) => void;
  onForget: () => void;
  onImport: (doc: Mapping, name: string, text: string, format: Format, foreign?: string) => void;
}

/** The job as a file: edited here, brought in, taken out. */
export function FilePane({ draft, root, onType, onFormat, onForget, onImport }: FilePaneProps) {
  const say = useWords(words);
  const tell = useFault();
  const { modal, notification } = App.useApp();
  const input = useRef<HTMLInputElement>(null);
  const detail = useDetail();
  const refuse = (name: string, why: string) =>
    notification.error({ title: say.notImported(name), description: why, duration: 8 });
  const convert = async (text: string, name: string) => {
    try {
      const { document, dialect, converted, lost } = await translate(text);
      onImport(document, name, writeText(document, 'yaml'), 'yaml', text);
      modal.info({
        title: say.converted(name),
        content: <Became dialect={dialect} converted={converted} lost={lost} />,
        okText: say.understood,
        width: 640,
      });
    } catch (thrown) {
      refuse(name, sentence(detail(thrown)));
    }
  };
  const bring = async (file: File) => {
    if (file.size > MOST_BYTES) return refuse(file.name, say.tooLarge);
    const text = await file.text();
    const format = /\.json$/i.test(file.name) ? 'json' : 'yaml';
    const { doc, fault } = readText(text, format, root);
    if (doc) return onImport(doc, file.name, text, format);
    return fault.foreign ? convert(text, file.name) : refuse(file.name, tell(fault));
  };
  const choose = (format: Format) => {
    if (format === 'yaml' || !hasComments(draft.text ?? '')) return onFormat(format);
    return void modal.confirm({
      title: say.dropComments,
      content: say.dropCommentsHint,
      okText: say.drop,
      cancelText: say.cancel,
      onOk: () => onFormat(format),
    });
  };
  const drop = (event: DragEvent) => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    event.stopPropagation();
    void bring(file);
  };
  return (
    <section
      className={styles.file}
      aria-label={say.file}
      onDragOver={(event) => event.preventDefault()}
      onDropCapture={drop}
    >
      <div className={styles.fileHead}>
        <h2>{say.file}</h2>
        <Segmented
          size="small"
          aria-label={say.format}
          value={draft.format}
          disabled={draft.fault !== null}
          options={[
            { value: 'yaml', label: 'YAML' },
            { value: 'json', label: 'JSON' },
          ]}
          onChange={(format) => choose(format as Format)}
        />
        <div className={styles.fileTools}>
          <Copy text={draft.text ?? ''} />
          <Button
            type="text"
            size="small"
            icon={<UploadOutlined aria-hidden />}
            onClick={() => input.current?.click()}
          >
            {say.import}
          </Button>
          <Tooltip title={say.exportAs}>
            <Button
              type="text"
              size="small"
              icon={<DownloadOutlined aria-hidden />}
              onClick={() => saveAs(draft)}
            >
              {say.export}
            </Button>
          </Tooltip>
        </div>
        <input
          ref={input}
          type="file"
          hidden
          accept=".yaml,.yml,.json,.sbatch,.sh,.slurm,text/yaml,application/json"
          aria-label={say.import}
          onChange={(event) => {
            const [file] = event.target.files ?? [];
            if (file) void bring(file);
            event.target.value = '';
          }}
        />
      </div>
      <div className={styles.editor}>
        <Suspense fallback={<Skeleton active className={styles.skeleton} title={false} />}>
          {draft.text === null ? (
            <Skeleton active className={styles.skeleton} title={false} />
          ) : (
            <TextEditor
              value={draft.text}
              language={draft.format}
              label={say.editorLabel}
              badLine={draft.fault?.line}
              onChange={onType}
            />
          )}
        </Suspense>
      </div>
      {draft.fault && (
        <Alert
          type="error"
          showIcon
          title={tell(draft.fault)}
          description={say.formWaits}
          action={
            <>
              {draft.fault.foreign && (
                <Button size="small" type="primary" onClick={() => void convert(draft.text ?? '', say.file)}>
                  {say.convert}
                </Button>
              )}
              <Button size="small" onClick={onForget}>
                {say.forgetText}
              </Button>
            </>
          }
        />
      )}
    </section>
  );
}

/** Have the server translate a job file of another system; code that lies on a machine stays there. */
async function translate(text: string): Promise<Schemas['Translated'] & { document: Mapping }> {
  const made = await answer(
    api.POST('/api/v1/jobs/translate', {
      body: text,
      bodySerializer: (body) => body,
      headers: { 'Content-Type': 'text/plain' },
    }),
  );
  const { code, ...document } = made.document as Mapping;
  return { ...made, document: typeof code === 'string' ? document : (made.document as Mapping) };
}

/** A way to tell what keeps a text from being a job file. */
function useFault(): (fault: TextFault) => string {
  const say = useWords(words);
  const told = useTold();
  return ({ line, code, message, foreign }) => {
    if (!foreign) return say.line(line, say.faults[code] ?? message);
    return sentence(told({ message, message_code: 'job_file_foreign', params: { format: foreign } }));
  };
}

function saveAs({ doc, text, format }: Draft): void {
  const name = typeof doc.name === 'string' && /^[\w.~-]+$/.test(doc.name) ? doc.name : 'job';
  const address = URL.createObjectURL(new Blob([text ?? ''], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = `${name}.${format}`;
  document.body.append(link);
  link.click();
  link.remove();
  URL.revokeObjectURL(address);
}
