import { lazyRouteComponent } from '@tanstack/react-router';
import { ApiError } from '@/api/client';

const KEY = 'footplate.reloaded';
const LEAST_PAUSE_MS = 30_000;

let renewal: Promise<boolean> = Promise.resolve(false);

/**
 * Load the page anew when a part of it is gone: the server was renewed while the page was open.
 *
 * Once in a while only: a part that stays away must not make the page go round for ever. And only from a server
 * that answers: without one, what is open is all there is.
 */
export function followRenewal(): void {
  addEventListener('vite:preloadError', () => {
    renewal = reloadOnce();
  });
}

async function reloadOnce(): Promise<boolean> {
  if (Date.now() - reloadedAt() < LEAST_PAUSE_MS || !(await isReachable())) return false;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
  return true;
}

function reloadedAt(): number {
  return Number(sessionStorage.getItem(KEY) ?? 0);
}

/** Whether the server has an answer to give. */
export async function isReachable(): Promise<boolean> {
  try {
    return (await fetch('/', { method: 'HEAD', cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

type Module = Record<string, unknown>;

/** A part of the page, which comes when it is needed; for ever on its way where the whole page comes anew. */
export async function part<Part extends Module>(load: () => Promise<Part>): Promise<Part> {
  try {
    return await load();
  } catch (cause) {
    if (await renewal) return new Promise<never>(() => {});
    throw cause;
  }
}

/** A page whose code comes when somebody goes there. */
export function lazyPage<Page extends Module, Name extends keyof Page & string>(
  load: () => Promise<Page>,
  name: Name,
) {
  const loadOrSay = async () => {
    try {
      return await part(load);
    } catch (cause) {
      if (!(await isReachable())) throw ApiError.unreachable();
      // In words of our own: the router would load the page anew for those of the browser.
      throw new Error(`a part of the console does not come: ${String(cause)}`);
    }
  };
  return lazyRouteComponent(loadOrSay, name);
}
