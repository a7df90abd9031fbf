import {
  CodeOutlined,
  DatabaseOutlined,
  DeleteOutlined,
  DownloadOutlined,
  EditOutlined,
  ExperimentOutlined,
  MoreOutlined,
  SwapOutlined,
} from '@ant-design/icons';
import { useNavigate } from '@tanstack/react-router';
import type { MenuProps } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { download } from '@/api/client';
import { useWords } from '@/i18n/language';
import { MenuButton } from '@/ui/MenuButton';
import { useTell } from '@/ui/useTell';
import { words as uiWords } from '@/ui/words';
import { archivePath, contentPath, type Entry } from './queries';
import { useRemove } from './useRemove';
import { words } from './words';

const Rename = lazy(async () => ({ default: (await import('./dialogs/Rename')).Rename }));
const RegisterStored = lazy(async () => ({
  default: (await import('@/features/models/dialogs')).RegisterStoredDialog,
}));
const Relocate = lazy(async () => ({ default: (await import('./dialogs/Relocate')).Relocate }));

interface EntryMenuProps {
  storage: string;
  entry: Entry;
  canWrite: boolean;
  onChanged: () => void;
}

const ENDING = /\.[^.]+$/;
const ARCHIVE = /\.(zip|tar|tgz|tar\.gz)$/i;

/** All that can be done with one file or folder. */
export function EntryMenu({ storage, entry, canWrite, onChanged }: EntryMenuProps) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const navigate = useNavigate();
  const { failed } = useTell();
  const [dialog, setDialog] = useState<'rename' | 'relocate' | 'register' | null>(null);
  const remove = useRemove(storage, onChanged);
  const isFolder = entry.kind === 'folder';
  const place = `${storage}/${entry.path}`;
  const items: NonNullable<MenuProps['items']> = [
    {
      key: 'download',
      icon: <DownloadOutlined aria-hidden />,
      label: isFolder ? say.downloadFolder : say.download,
      onClick: () => void download((isFolder ? archivePath : contentPath)(storage, entry.path)).catch(failed),
    },
    {
      key: 'data',
      icon: <DatabaseOutlined aria-hidden />,
      label: say.useAsData,
      onClick: () => void navigate({ to: '/submit', search: { data: place } }),
    },
    ...(isFolder || ARCHIVE.test(entry.name)
      ? [
          {
            key: 'code',
            icon: <CodeOutlined aria-hidden />,
            label: say.useAsCode,
            onClick: () => void navigate({ to: '/submit', search: { code: place } }),
          },
        ]
      : []),
    {
      key: 'register',
      icon: <ExperimentOutlined aria-hidden />,
      label: say.register,
      onClick: () => setDialog('register'),
    },
    {
      key: 'relocate',
      icon: <SwapOutlined aria-hidden />,
      label: say.relocate,
      onClick: () => setDialog('relocate'),
    },
    ...(canWrite
      ? [
          {
            key: 'rename',
            icon: <EditOutlined aria-hidden />,
            label: say.rename,
            onClick: () => setDialog('rename'),
          },
          {
            key: 'delete',
            danger: true,
            icon: <DeleteOutlined aria-hidden />,
            label: say.delete,
            onClick: () => void remove([entry]),
          },
        ]
      : []),
  ];
  return (
    <>
      <MenuButton
        items={items}
        size="small"
        type="text"
        placement="bottomRight"
        icon={<MoreOutlined aria-hidden />}
        aria-label={ui.moreOf(entry.name)}
      />
      <Suspense>
        {dialog === 'rename' && (
          <Rename storage={storage} entry={entry} onClose={() => setDialog(null)} onDone={onChanged} />
        )}
        {dialog === 'register' && (
          <RegisterStored
            storage={storage}
            path={entry.path}
            name={entry.name.replace(ENDING, '')}
            onClose={() => setDialog(null)}
          />
        )}
        {dialog === 'relocate' && (
          <Relocate
            storage={storage}
            entries={[entry]}
            canMove={canWrite}
            onClose={() => setDialog(null)}
            onDone={onChanged}
          />
        )}
      </Suspense>
    </>
  );
}
