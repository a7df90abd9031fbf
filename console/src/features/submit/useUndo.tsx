import { App, Button } from 'antd';
import { useCallback } from 'react';
import { useWords } from '@/i18n/language';
import type { Draft } from './draft';
import { words } from './words';

const SHOWN_S = 6;

/** Say that the document was replaced, with a way back. */
export function useUndo(restore: (draft: Draft) => void) {
  const say = useWords(words);
  const { message } = App.useApp();
  return useCallback(
    (text: string, before: Draft, tone: 'success' | 'warning' = 'success') => {
      const key = 'undo';
      const undo = () => {
        restore(before);
        message.destroy(key);
      };
      message.open({
        key,
        type: tone,
        duration: SHOWN_S,
        content: (
          <>
            {text}{' '}
            {Object.keys(before.doc).length > 0 && (
              <Button type="link" size="small" onClick={undo}>
                {say.undo}
              </Button>
            )}
          </>
        ),
      });
    },
    [restore, message, say],
  );
}
