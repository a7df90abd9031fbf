import { useQueryClient } from '@tanstack/react-query';
import { App, Radio } from 'antd';
import { useEffect, useSyncExternalStore } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import type { Given } from '@/ui/dropped';
import { useTell } from '@/ui/useTell';
import styles from '../files.module.css';
import { joined, topNames } from '../paths';
import { renewFiles, takenIn, unfinishedQuery } from '../queries';
import { words } from '../words';
import { transfers } from './engine';
import { fingerprintOf, type IfExists, type Transfer } from './transfer';

export const useTransfers = (): readonly Transfer[] =>
  useSyncExternalStore(transfers.subscribe, transfers.current);

/** Shown folders are asked for anew when a file has come; the browser asks before it throws uploads away. */
export function useUploadsAround(user: string): void {
  const client = useQueryClient();
  useEffect(() => transfers.ownedBy(user), [user]);
  useEffect(() => {
    const stop = transfers.onPlaced((storage) => void renewFiles(client, storage));
    return () => void stop();
  }, [client]);
  const isBusy = useTransfers().some(({ phase }) => phase === 'waiting' || phase === 'sending');
  useEffect(() => {
    if (!isBusy) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isBusy]);
}

type Choice = IfExists | 'skip';

/** Upload what somebody gave into a folder; where names are taken, ask what to do. */
export function useSend(storage: string, folder: string): (given: Promise<Given[]>) => Promise<void> {
  const say = useWords(words);
  const client = useQueryClient();
  const { failed } = useTell();
  const ask = useConflictQuestion();
  const send = async (given: readonly Given[]) => {
    const unfinished = await client.fetchQuery({ ...unfinishedQuery(storage), staleTime: 0 });
    const { begun, fresh } = sorted(given, folder, unfinished);
    transfers.add(begun.map((one) => ({ ...one, storage })));
    if (fresh.length === 0) return;
    const names = topNames(fresh.map(({ path }) => path));
    const taken = await takenIn(storage, folder, names);
    const choice = taken.length > 0 ? await ask(taken) : 'replace';
    if (choice === null) return;
    const kept = choice === 'skip' ? withoutTops(fresh, taken) : fresh;
    const base = choice === 'subfolder' ? await numbered(storage, folder) : folder;
    const ifExists: IfExists = choice === 'subfolder' ? 'replace' : choice === 'skip' ? 'refuse' : choice;
    transfers.add(kept.map(({ path, file }) => ({ storage, path: joined(base, path), file, ifExists })));
  };
  return async (given) => {
    try {
      const found = await given;
      if (found.length === 0) throw new Error(say.nothingGiven);
      await send(found);
    } catch (error) {
      failed(error);
    }
  };
}

const withoutTops = (given: readonly Given[], tops: readonly string[]) =>
  given.filter(({ path }) => !tops.includes(path.split('/', 1)[0] ?? path));

type Unfinished = Schemas['UploadBody'];

/** Tell files that go on where an earlier upload was cut from those that begin. */
function sorted(given: readonly Given[], folder: string, unfinished: readonly Unfinished[]) {
  const known = new Map(unfinished.map((one) => [`${one.path}\n${one.fingerprint}`, one]));
  const begun: Pick<Transfer, 'path' | 'file' | 'ifExists' | 'uploadId'>[] = [];
  const fresh: Given[] = [];
  for (const one of given) {
    const path = joined(folder, one.path);
    const found = known.get(`${path}\n${fingerprintOf(one.file)}`);
    if (found)
      begun.push({ path, file: one.file, ifExists: found.if_exists ?? 'replace', uploadId: found.id });
    else fresh.push(one);
  }
  return { begun, fresh };
}

/** A new folder in a folder: 2, or the next free number. */
async function numbered(storage: string, folder: string): Promise<string> {
  const body = { path: folder, is_new: false, numbered: true };
  const params = { path: { name: storage } };
  return (await answer(api.POST('/api/v1/storages/{name}/folders', { params, body }))).path;
}

function useConflictQuestion(): (taken: readonly string[]) => Promise<Choice | null> {
  const say = useWords(words);
  const { modal } = App.useApp();
  return async (taken) => {
    let choice: Choice = 'replace';
    const isSure = await modal.confirm({
      title: say.taken(taken.length),
      width: 480,
      content: (
        <>
          <p className={styles.names}>{taken.slice(0, 8).join(', ') + (taken.length > 8 ? ', …' : '')}</p>
          <Radio.Group
            aria-label={say.takenHow}
            defaultValue="replace"
            className={styles.radios}
            onChange={({ target }) => {
              choice = target.value as Choice;
            }}
            options={[
              { value: 'replace', label: say.takenReplace },
              { value: 'subfolder', label: say.takenSubfolder },
              { value: 'skip', label: say.takenSkip },
            ]}
          />
        </>
      ),
      okText: say.upload,
      cancelText: say.cancel,
    });
    return isSure ? choice : null;
  };
}
