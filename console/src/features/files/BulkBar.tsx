import { DeleteOutlined, SwapOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { useWords } from '@/i18n/language';
import styles from './files.module.css';
import type { Entry } from './queries';
import { useRemove } from './useRemove';
import { words } from './words';

const Relocate = lazy(async () => ({ default: (await import('./dialogs/Relocate')).Relocate }));

interface BulkBarProps {
  storage: string;
  entries: readonly Entry[];
  canWrite: boolean;
  onClear: () => void;
  onChanged: () => void;
}

/** What can be done with all that is selected. */
export function BulkBar({ storage, entries, canWrite, onClear, onChanged }: BulkBarProps) {
  const say = useWords(words);
  const [isMoving, setMoving] = useState(false);
  const remove = useRemove(storage, onChanged);
  return (
    <section className={styles.bulk} aria-label={say.selected(entries.length)}>
      <strong>{say.selected(entries.length)}</strong>
      <Button size="small" icon={<SwapOutlined aria-hidden />} onClick={() => setMoving(true)}>
        {say.relocate}
      </Button>
      {canWrite && (
        <Button size="small" icon={<DeleteOutlined aria-hidden />} onClick={() => void remove(entries)}>
          {say.delete}
        </Button>
      )}
      <Button size="small" type="text" onClick={onClear}>
        {say.unselect}
      </Button>
      <Suspense>
        {isMoving && (
          <Relocate
            storage={storage}
            entries={entries}
            canMove={canWrite}
            onClose={() => setMoving(false)}
            onDone={onChanged}
          />
        )}
      </Suspense>
    </section>
  );
}
