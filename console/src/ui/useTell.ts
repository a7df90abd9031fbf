import { App } from 'antd';
import { useCallback } from 'react';
import { useWords } from '@/i18n/language';
import { titleOf } from './Failure';
import { useDetail } from './told';
import { words } from './words';

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
  const done = useCallback((text: string) => void message.success(text), [message]);
  return { done, failed };
}
