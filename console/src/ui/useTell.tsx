import { App, Button } from 'antd';
import { useCallback } from 'react';
import { useWords } from '@/i18n/language';
import { titleOf } from './Failure';
import { useDetail } from './told';
import { words } from './words';

/** Long enough to read it, and to change one's mind. */
const UNDO_S = 8;

/** Tell what happened in a corner of the page: successes shortly, failures until somebody closes them. */
export function useTell() {
  const { message, notification } = App.useApp();
  const say = useWords(words);
  const detailOf = useDetail();
  const failed = useCallback(
    (error: unknown) =>
      notification.error({ title: titleOf(error, say), description: detailOf(error), duration: 8 }),
    [notification, say, detailOf],
  );
  const done = useCallback(
    (text: string, undo?: () => void) => {
      if (!undo) return void message.success(text);
      const key = `undo ${text}`;
      const press = () => {
        message.destroy(key);
        undo();
      };
      const button = (
        <Button type="link" size="small" onClick={press}>
          {say.undo}
        </Button>
      );
      message.open({
        key,
        type: 'success',
        duration: UNDO_S,
        content: (
          <>
            {text} {button}
          </>
        ),
      });
    },
    [message, say],
  );
  return { done, failed };
}
