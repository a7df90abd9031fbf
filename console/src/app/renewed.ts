const KEY = 'footplate.reloaded';
const LEAST_PAUSE_MS = 30_000;

/**
 * Load the page anew when a part of it is gone: the server was renewed while the page was open.
 *
 * Once in a while only: a part that stays away must not make the page go round for ever.
 */
export function followRenewal(): void {
  addEventListener('vite:preloadError', (event) => {
    if (Date.now() - reloadedAt() < LEAST_PAUSE_MS) return;
    event.preventDefault();
    sessionStorage.setItem(KEY, String(Date.now()));
    location.reload();
  });
}

function reloadedAt(): number {
  return Number(sessionStorage.getItem(KEY) ?? 0);
}
