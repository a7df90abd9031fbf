import { useState } from 'react';
import { recall, remember } from '@/app/memory';
import { PHONE, useMedia } from '@/ui/useMedia';

const KEY = 'footplate.wrap';

/** Whether long lines break, and a switch for it: as it was chosen last, else on narrow screens. */
export function useWrap(): [boolean, () => void] {
  const isNarrow = useMedia(PHONE);
  const [chosen, setChosen] = useState(() => recall(KEY));
  const isWrapped = chosen === null ? isNarrow : chosen === 'yes';
  const turn = () => {
    const wanted = isWrapped ? 'no' : 'yes';
    remember(KEY, wanted);
    setChosen(wanted);
  };
  return [isWrapped, turn];
}
