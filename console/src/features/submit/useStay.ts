import { useBlocker } from '@tanstack/react-router';
import { App } from 'antd';
import { useWords } from '@/i18n/language';
import { words } from './words';

/** Ask before somebody leaves while something is under way that would end with the page. */
export function useStay(isNeeded: boolean): void {
  const say = useWords(words);
  const { modal } = App.useApp();
  useBlocker({
    disabled: !isNeeded,
    enableBeforeUnload: isNeeded,
    shouldBlockFn: async ({ current, next }) => {
      // Whoever is signed out must sign in; whoever stays on this page loses nothing.
      const isFree = next.pathname === '/sign-in' || isSameDraft(current, next);
      return (
        !isFree && !(await modal.confirm({ title: say.leaveUpload, okText: say.leave, cancelText: say.stay }))
      );
    },
  });
}

interface Place {
  pathname: string;
  search: unknown;
}

function isSameDraft(one: Place, other: Place): boolean {
  const draftOf = ({ pathname, search }: Place) => `${pathname} ${JSON.stringify(search)}`;
  return draftOf(one) === draftOf(other);
}
