import { DownloadOutlined, UploadOutlined } from '@ant-design/icons';
import { Alert, App, Button, Segmented, Skeleton, Tooltip } from 'antd';
import { type DragEvent, lazy, Suspense, useRef } from 'react';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import type { Mapping } from './document';
import type { Draft } from './draft';
import styles from './submit.module.css';
import { type Format, hasComments, readText, type TextFault } from './text';
import { words } from './words';

const TextEditor = lazy(async () => ({ default: (await import('@/ui/TextEditor')).TextEditor }));
const MOST_BYTES = 1024 ** 2;

interface FilePaneProps {
  draft: Draft;
  onType: (text: string) => void;
  onFormat: (format: Format) => void;
  onForget: () => void;
  onImport: (doc: Mapping, name: string, text: string, format: Format) => void;
}

/** The job as a file: edited here, brought in, taken out. */
export function FilePane({ draft, onType, onFormat, onForget, onImport }: FilePaneProps) {
  const say = useWords(words);
  const { modal, notification } = App.useApp();
  const input = useRef<HTMLInputElement>(null);
  const refuse = (name: string, why: string) =>
    notification.error({ title: say.notImported(name), description: why, duration: 8 });
  const bring = async (file: File) => {
    if (file.size > MOST_BYTES) return refuse(file.name, say.tooLarge);
    const text = await file.text();
    const format = /\.json$/i.test(file.name) ? 'json' : 'yaml';
    const { doc, fault } = readText(text, format);
    return doc ? onImport(doc, file.name, text, format) : refuse(file.name, tell(fault, say));
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
          accept=".yaml,.yml,.json,text/yaml,application/json"
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
          title={tell(draft.fault, say)}
          description={say.formWaits}
          action={
            <Button size="small" onClick={onForget}>
              {say.forgetText}
            </Button>
          }
        />
      )}
    </section>
  );
}

type Words = (typeof words)['en'];

function tell(fault: TextFault, say: Words): string {
  return say.line(fault.line, say.faults[fault.code] ?? fault.message);
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
