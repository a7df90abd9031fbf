import { FolderFilled, LeftOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button, Checkbox, Modal, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api } from '@/api/client';
import { storagesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { useReturnFocus } from '@/ui/useReturnFocus';
import { useTell } from '@/ui/useTell';
import styles from '../files.module.css';
import { folderOf, isWithin, joined } from '../paths';
import { type Entry, folderQuery, renewFiles } from '../queries';
import { words } from '../words';

interface RelocateProps {
  storage: string;
  entries: readonly Entry[];
  /** Whether they may be taken away from where they are. */
  canMove: boolean;
  onClose: () => void;
  onDone: () => void;
}

const MOST_FOLDERS = 1000;

/** Choose a folder, here or on another storage, and move or copy there. */
export function Relocate({ storage, entries, canMove, onClose, onDone }: RelocateProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  useReturnFocus();
  const { data: storages = [] } = useQuery(storagesQuery);
  const writable = storages.filter(({ read_only }) => !read_only).map(({ name }) => name);
  const [place, setPlace] = useState({ storage, path: folderOf(entries[0]?.path ?? '') });
  const [replaces, setReplaces] = useState(false);
  const what = entries.length === 1 ? (entries[0]?.name ?? '') : say.things(entries.length);
  const where = writable.includes(place.storage) ? place : { storage: writable[0] ?? '', path: '' };
  const acting = useMutation({
    mutationFn: async (verb: 'move' | 'copy') => {
      for (const { path, name } of entries) {
        const target = { storage: where.storage, path: joined(where.path, name) };
        const body = { source: path, target, replaces };
        const params = { path: { name: storage } };
        if (verb === 'move') await answer(api.POST('/api/v1/storages/{name}/move', { params, body }));
        else await answer(api.POST('/api/v1/storages/{name}/copy', { params, body }));
      }
    },
    onSuccess: (_, verb) => {
      const to = `${where.storage}:${where.path}`;
      done(verb === 'move' ? say.moved(what, to) : say.copied(what, to));
      onClose();
    },
    onError: failed,
    onSettled: () => {
      void renewFiles(client, where.storage);
      onDone();
    },
  });
  const blocked = blockedBecause(entries, storage, where);
  const button = (verb: 'move' | 'copy') => (
    <Button
      key={verb}
      type={verb === 'copy' ? 'default' : 'primary'}
      disabled={blocked !== undefined || acting.isPending || where.storage === ''}
      loading={acting.isPending && acting.variables === verb}
      onClick={() => acting.mutate(verb)}
    >
      {say[verb]}
    </Button>
  );
  return (
    <Modal
      open
      title={say.relocateOf(what)}
      onCancel={onClose}
      footer={[
        <Button key="cancel" onClick={onClose}>
          {say.cancel}
        </Button>,
        button('copy'),
        ...(canMove ? [button('move')] : []),
      ]}
    >
      <div className={styles.picker}>
        <Select
          aria-label={say.storage}
          value={where.storage}
          options={writable.map((name) => ({ value: name, label: name }))}
          onChange={(name) => setPlace({ storage: name, path: '' })}
        />
        <Folders place={where} onGo={(path) => setPlace({ ...where, path })} />
        <p role="status" className="quiet">
          {blocked ? say[blocked] : `${say.into}: ${where.storage}:${where.path}`}
        </p>
        <Checkbox checked={replaces} onChange={({ target }) => setReplaces(target.checked)}>
          {say.replaces}
        </Checkbox>
      </div>
    </Modal>
  );
}

interface Place {
  storage: string;
  path: string;
}

function blockedBecause(entries: readonly Entry[], storage: string, to: Place) {
  if (to.storage !== storage) return undefined;
  if (entries.some(({ kind, path }) => kind === 'folder' && isWithin(to.path, path))) return 'itself';
  return entries.every(({ path }) => folderOf(path) === to.path) ? 'sameFolder' : undefined;
}

function Folders({ place, onGo }: { place: Place; onGo: (path: string) => void }) {
  const say = useWords(words);
  const { data, error } = useQuery({
    ...folderQuery(place.storage, place.path, undefined, MOST_FOLDERS),
    placeholderData: undefined,
    enabled: place.storage !== '',
  });
  const folders = data?.items.filter(({ kind }) => kind === 'folder') ?? [];
  return (
    <div className={styles.folders}>
      {place.path && (
        <Button
          type="text"
          block
          icon={<LeftOutlined aria-hidden />}
          onClick={() => onGo(folderOf(place.path))}
        >
          {say.up}
        </Button>
      )}
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active title={false} />}
      {data && folders.length === 0 && <p className="quiet">{say.noFolders}</p>}
      {folders.map(({ name, path }) => (
        <Button key={path} type="text" block icon={<FolderFilled aria-hidden />} onClick={() => onGo(path)}>
          {name}
        </Button>
      ))}
    </div>
  );
}
