import { App, Button } from 'antd';
import { useWords } from '@/i18n/language';
import type { Mapping } from './document';
import { words } from './words';

const SHOWN_S = 6;

/** Say that the document was replaced, with a way back. */
export function useUndo(replace: (doc: Mapping) => void) {
  const say = useWords(words);
  const { message } = App.useApp();
  return (text: string, before: Mapping, tone: 'success' | 'warning' = 'success') => {
    const key = 'undo';
    const undo = () => {
      replace(before);
      message.destroy(key);
    };
    message.open({
      key,
      type: tone,
      duration: SHOWN_S,
      content: (
        <>
          {text}{' '}
          {Object.keys(before).length > 0 && (
            <Button type="link" size="small" onClick={undo}>
              {say.undo}
            </Button>
          )}
        </>
      ),
    });
  };
}
