import { useRef } from 'react';

/**
 * Do something at most once at a time: a second press comes before the page can show that the first one counts.
 *
 * What went well leads elsewhere, and is not done again from here; `again` lifts that.
 */
export function useOneAtATime(act: () => Promise<unknown>) {
  const isHeld = useRef(false);
  const press = async () => {
    if (isHeld.current) return;
    isHeld.current = true;
    try {
      await act();
    } catch {
      // Whoever acts tells what went wrong; after that it may be tried again.
      isHeld.current = false;
    }
  };
  const again = useRef(() => {
    isHeld.current = false;
  });
  return { press, again: again.current };
}
