import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from 'antd';
import { useRef } from 'react';
import { useWords } from '@/i18n/language';
import { bytesOf } from '@/ui/amounts';
import { Card } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTell } from '@/ui/useTell';
import styles from '../files.module.css';
import { unfinishedQuery } from '../queries';
import { words } from '../words';
import { forgetUpload, transfers } from './engine';
import { fingerprintOf } from './transfer';
import { useTransfers } from './useUploads';

/** Uploads that were cut, such as by a reload: the same file, chosen again, goes on where it was. */
export function Unfinished({ storage }: { storage: string }) {
  const say = useWords(words);
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const { failed } = useTell();
  const { data = [] } = useQuery(unfinishedQuery(storage));
  const known = new Set(useTransfers().map(({ uploadId }) => uploadId));
  const left = data.filter(({ id, fingerprint }) => !known.has(id) && fingerprint.startsWith('browser:'));
  if (left.length === 0) return null;
  const forget = async (id: string) => {
    await forgetUpload(storage, id);
    void client.invalidateQueries({ queryKey: unfinishedQuery(storage).queryKey });
  };
  const take = (input: HTMLInputElement) => {
    const files = [...(input.files ?? [])];
    input.value = '';
    const found = left.flatMap((upload) => {
      const file = files.find((one) => fingerprintOf(one) === upload.fingerprint);
      return file
        ? [{ storage, path: upload.path, file, ifExists: upload.if_exists, uploadId: upload.id }]
        : [];
    });
    if (found.length === 0) failed(new Error(say.otherFile));
    else transfers.add(found);
  };
  return (
    <Card title={say.unfinished} isFlush>
      <p className={styles.hint}>{say.unfinishedHint}</p>
      <ul className={styles.unfinished} aria-label={say.unfinished}>
        {left.map(({ id, path, done_bytes, size_bytes, created_at }) => (
          <li key={id}>
            <div className={styles.transferName}>
              <span>{path}</span>
              <span className="quiet">
                {bytesOf(done_bytes, size_bytes)} · <TimeAgo at={created_at} />
              </span>
            </div>
            <div className={styles.tools}>
              <Button size="small" onClick={() => input.current?.click()}>
                {say.chooseAgain}
              </Button>
              <Button size="small" aria-label={say.forget(path)} onClick={() => void forget(id)}>
                {say.forgetShort}
              </Button>
            </div>
          </li>
        ))}
      </ul>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        aria-label={say.chooseAgain}
        onChange={(event) => take(event.target)}
      />
    </Card>
  );
}
