import { useQuery } from '@tanstack/react-query';
import { App } from 'antd';
import { answer, api } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { useTell } from '@/ui/useTell';
import { type Entry, usageQuery } from './queries';
import { words } from './words';

/** Delete files and folders, after somebody has seen how much that is. */
export function useRemove(storage: string, onDone: () => void): (entries: readonly Entry[]) => Promise<void> {
  const say = useWords(words);
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  return async (entries) => {
    const [first] = entries;
    const what = entries.length === 1 && first ? first.name : say.things(entries.length);
    await modal.confirm({
      title: say.deleteAsk(what),
      content: <Amount storage={storage} entries={entries} />,
      okText: say.delete,
      cancelText: say.cancel,
      okButtonProps: { danger: true },
      onOk: async () => {
        try {
          for (const { path } of entries) {
            const params = { path: { name: storage }, query: { path, recursive: true } };
            await answer(api.DELETE('/api/v1/storages/{name}/entries', { params }));
          }
          done(say.deleted(what));
        } catch (error) {
          failed(error);
        }
        onDone();
      },
    });
  };
}

/** How much one folder holds; several are not counted. */
function Amount({ storage, entries }: { storage: string; entries: readonly Entry[] }) {
  const say = useWords(words);
  const folder = entries.length === 1 && entries[0]?.kind === 'folder' ? entries[0].path : undefined;
  const { data } = useQuery({ ...usageQuery(storage, folder ?? ''), enabled: folder !== undefined });
  return (
    <>
      {data && <p>{say.deleteSize(data.n_files, bytes(data.size_bytes))}</p>}
      <p>{say.deleteHint}</p>
    </>
  );
}
