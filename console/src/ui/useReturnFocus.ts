import { useEffect, useRef } from 'react';

/** Give the focus back to what opened a dialog when the dialog goes: whoever uses the keyboard goes on from there. */
export function useReturnFocus(): void {
  const opener = useRef(document.activeElement);
  useEffect(() => {
    let isGone = false;
    return () => {
      isGone = true;
      // The dialog holds the focus until it has left the page.
      requestAnimationFrame(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        if (isGone && isLost && opener.current instanceof HTMLElement) opener.current.focus();
      });
    };
  }, []);
}
