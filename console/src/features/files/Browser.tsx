import { FolderAddOutlined, UploadOutlined } from '@ant-design/icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { type DragEvent, useRef, useState } from 'react';
import { useWords } from '@/i18n/language';
import { dropped, picked } from '@/ui/dropped';
import { Failure } from '@/ui/Failure';
import { MenuButton } from '@/ui/MenuButton';
import { Card, Nothing } from '@/ui/Page';
import { Pages } from '@/ui/Pages';
import { BulkBar } from './BulkBar';
import { Crumbs } from './Crumbs';
import { NewFolder } from './dialogs/NewFolder';
import { EntryMenu } from './EntryMenu';
import styles from './files.module.css';
import { Listing } from './Listing';
import { joined } from './paths';
import { PreviewDrawer } from './preview/PreviewDrawer';
import { folderQuery, renewFiles, type Storage, storageFile } from './queries';
import { Unfinished } from './uploads/Unfinished';
import { useSend } from './uploads/useUploads';
import { words } from './words';

const route = getRouteApi('/shell/files');

interface BrowserProps {
  name: string;
  /** Absent when the caller has no such storage. */
  storage: Storage | undefined;
}

/** A folder of a storage, and all that can be done there. */
export function Browser({ name, storage }: BrowserProps) {
  const say = useWords(words);
  const { path = '', file, after } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const { data, error, isPlaceholderData } = useQuery(folderQuery(name, path, after));
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const canWrite = storage?.read_only === false;
  const entries = data?.items ?? [];
  const selected = entries.filter((entry) => chosen.has(entry.path));
  const renew = () => {
    setChosen(new Set());
    void renewFiles(client, name);
  };
  return (
    <DropZone isEnabled={canWrite} storage={name} path={path}>
      {(pick) => (
        <>
          {canWrite && <Unfinished storage={name} />}
          <Card isFlush>
            <div className={styles.head}>
              <Crumbs first={[{ name, search: { storage: name } }]} path={path} />
              {storage?.read_only && (
                <span className={styles.tag} title={say.readOnlyHint}>
                  {say.readOnly}
                </span>
              )}
              {canWrite && <Tools storage={name} path={path} pick={pick} />}
            </div>
            {selected.length > 0 && (
              <BulkBar
                storage={name}
                entries={selected}
                canWrite={canWrite}
                onClear={() => setChosen(new Set())}
                onChanged={renew}
              />
            )}
            {error && !data && (
              <div className={styles.failure}>
                <Failure error={error} />
              </div>
            )}
            {!data && !error && <Skeleton active className={styles.skeleton} title={false} />}
            {data && entries.length === 0 && (
              <Nothing title={say.empty} hint={canWrite ? say.emptyHint : say.emptyReadOnly} />
            )}
            {entries.length > 0 && (
              <Listing
                entries={entries}
                isOld={isPlaceholderData}
                selection={{ chosen, onChoose: setChosen }}
                searchOf={(entry) =>
                  entry.kind === 'folder'
                    ? { storage: name, path: entry.path }
                    : { storage: name, path, after, file: entry.name }
                }
                menuOf={(entry) => (
                  <EntryMenu storage={name} entry={entry} canWrite={canWrite} onChanged={renew} />
                )}
              />
            )}
            {data !== undefined && data.n_unnamed > 0 && (
              <p className={styles.hint}>{say.unnamed(data.n_unnamed)}</p>
            )}
          </Card>
          <Pages
            after={after}
            next={data?.next_page_token ?? null}
            onGo={(token) => void navigate({ search: (now) => ({ ...now, after: token }) })}
          />
          {file && (
            <PreviewDrawer
              source={storageFile(name, joined(path, file))}
              onClose={() => void navigate({ search: (now) => ({ ...now, file: undefined }) })}
            />
          )}
        </>
      )}
    </DropZone>
  );
}

type Pick = (kind: 'files' | 'folder') => void;

function Tools({ storage, path, pick }: { storage: string; path: string; pick: Pick }) {
  const say = useWords(words);
  const [isMaking, setMaking] = useState(false);
  return (
    <div className={styles.tools}>
      <Button icon={<FolderAddOutlined aria-hidden />} onClick={() => setMaking(true)}>
        {say.newFolder}
      </Button>
      <MenuButton
        type="primary"
        placement="bottomRight"
        icon={<UploadOutlined aria-hidden />}
        items={[
          { key: 'files', label: say.uploadFiles, onClick: () => pick('files') },
          { key: 'folder', label: say.uploadFolder, onClick: () => pick('folder') },
        ]}
      >
        {say.upload}
      </MenuButton>
      {isMaking && <NewFolder storage={storage} path={path} onClose={() => setMaking(false)} />}
    </div>
  );
}

interface DropZoneProps {
  isEnabled: boolean;
  storage: string;
  path: string;
  children: (pick: Pick) => React.ReactNode;
}

/** Takes files and folders that are dropped anywhere on it, or chosen. */
function DropZone({ isEnabled, storage, path, children }: DropZoneProps) {
  const say = useWords(words);
  const [isOver, setOver] = useState(false);
  const filesInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  const send = useSend(storage, path);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (isEnabled) void send(dropped(event.dataTransfer));
  };
  const take = (input: HTMLInputElement) => {
    if (input.files && input.files.length > 0) void send(Promise.resolve(picked(input.files)));
    input.value = '';
  };
  const pick: Pick = (kind) => (kind === 'files' ? filesInput : folderInput).current?.click();
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: whoever cannot drag has the button
    <div
      className={styles.zone}
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = isEnabled ? 'copy' : 'none';
        if (isEnabled) setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={drop}
    >
      {children(pick)}
      {isOver && (
        <div className={styles.over} aria-hidden>
          {say.dropHere(`${storage}:${path}`)}
        </div>
      )}
      <input
        ref={filesInput}
        type="file"
        hidden
        multiple
        aria-label={say.uploadFiles}
        onChange={(event) => take(event.target)}
      />
      <input
        ref={folderInput}
        type="file"
        hidden
        multiple
        {...{ webkitdirectory: '' }}
        aria-label={say.uploadFolder}
        onChange={(event) => take(event.target)}
      />
    </div>
  );
}
