import { CheckCircleOutlined, FolderOpenOutlined, InboxOutlined } from '@ant-design/icons';
import { Button, Progress } from 'antd';
import { type DragEvent, useRef, useState } from 'react';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { dropped, picked } from '@/ui/dropped';
import { isMapping, type Mapping } from '../document';
import { type Bound, isWorthShowing, useForm } from '../form/context';
import { FieldRow } from '../form/FieldRow';
import { without } from '../roles';
import { words } from '../words';
import styles from './code.module.css';
import { isNeverSent } from './ignore';
import { progressText, shareOf, type Upload, type UploadState, useCodeUpload } from './useUpload';

/** Code for the tasks: a folder or an archive, dropped or chosen, sent to the server at once. */
export function CodeField({ bound }: { bound: Bound }) {
  const say = useWords(words);
  const { isDisabled } = useForm();
  const [isOver, setOver] = useState(false);
  const folderInput = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);
  const { state, send, stop } = useCodeUpload();
  const digest = isMapping(bound.value) && typeof bound.value.upload === 'string' ? bound.value.upload : '';

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (!isDisabled) send(dropped(event.dataTransfer, isNeverSent));
  };
  const remove = () => {
    const rest = others(bound);
    bound.set(Object.keys(rest).length > 0 ? rest : undefined);
    stop();
  };
  if (state.kind === 'busy') return <Busy upload={state} onStop={stop} />;
  return (
    <>
      {digest && (
        <div className={styles.have}>
          <CheckCircleOutlined aria-hidden className={styles.good} />
          <div className={styles.haveText}>
            <strong>{state.kind === 'done' && state.digest === digest ? state.label : say.uploaded}</strong>
            <div className="quiet">
              {state.kind === 'done' && state.digest === digest && `${bytes(state.sizeBytes)} · `}
              <code>{digest.slice(0, 19)}…</code>
            </div>
            {state.kind === 'done' && state.digest === digest && state.leftOut.length > 0 && (
              <div>{say.leftOut(state.leftOut.join(', '))}</div>
            )}
          </div>
          <Button size="small" disabled={isDisabled} onClick={remove}>
            {say.removeCode}
          </Button>
        </div>
      )}
      <div
        className={styles.drop}
        data-over={isOver}
        data-small={Boolean(digest)}
        role="group"
        aria-labelledby={`${bound.id}-label`}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <InboxOutlined aria-hidden className={styles.sign} />
        <div>
          <div>{say.dropCode}</div>
          {!digest && <div className="quiet">{say.dropCodeHint}</div>}
        </div>
        <div className={styles.buttons}>
          <Button
            id={bound.id}
            size="small"
            disabled={isDisabled}
            icon={<FolderOpenOutlined aria-hidden />}
            onClick={() => folderInput.current?.click()}
          >
            {say.chooseFolder}
          </Button>
          <Button size="small" disabled={isDisabled} onClick={() => filesInput.current?.click()}>
            {say.chooseFiles}
          </Button>
        </div>
        <input
          ref={folderInput}
          type="file"
          hidden
          multiple
          {...{ webkitdirectory: '' }}
          aria-label={say.chooseFolder}
          onChange={(event) => pick(event.target, send)}
        />
        <input
          ref={filesInput}
          type="file"
          hidden
          multiple
          aria-label={say.chooseFiles}
          onChange={(event) => pick(event.target, send)}
        />
      </div>
      {state.kind === 'failed' && (
        <Button size="small" onClick={stop}>
          {digest ? say.keepCode : say.goOnWithoutCode}
        </Button>
      )}
      <Stored bound={bound} />
    </>
  );
}

/** What a document says of its code beside the upload. */
function others({ value }: Bound): Mapping {
  return isMapping(value) ? without(value, 'upload') : {};
}

/** Code on a storage, for those who want all fields, or have it in their file. */
function Stored({ bound }: { bound: Bound }) {
  const form = useForm();
  const fields = ['storage', 'path'].filter((name) => isWorthShowing(form, [...bound.path, name]));
  if (fields.length === 0) return null;
  return (
    <div className={styles.stored}>
      {fields.map((name) => (
        <FieldRow key={name} path={[...bound.path, name]} />
      ))}
    </div>
  );
}

function pick(input: HTMLInputElement, send: Upload['send']) {
  if (input.files && input.files.length > 0) send(Promise.resolve(picked(input.files)));
  input.value = '';
}

interface BusyProps {
  upload: UploadState & { kind: 'busy' };
  onStop: () => void;
}

function Busy({ upload: { label, progress }, onStop }: BusyProps) {
  const say = useWords(words);
  const text = progressText(progress, say);
  return (
    <div className={styles.have}>
      <div className={styles.haveText}>
        <strong>{label}</strong>
        <div className="quiet" aria-live="polite">
          {text}
        </div>
        <Progress
          percent={Math.round(shareOf(progress) * 100)}
          showInfo={false}
          size="small"
          aria-label={text}
        />
      </div>
      <Button size="small" onClick={onStop}>
        {say.stopUpload}
      </Button>
    </div>
  );
}
