import { createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '@/api/queries';
import { Loading } from '@/app/Loading';
import { lazyPage } from '@/app/renewed';
import { PENDING_MS, rootRoute } from '@/app/shellRoute';
import { ownPath } from './ownPath';
import { followLink } from './signIn';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  /** `ended`: somebody was signed in, and is no longer. */
  validateSearch: (search): { next?: string; ended?: boolean } => ({
    next: ownPath(search.next),
    ended: search.ended === true || search.ended === 'true' || undefined,
  }),
  beforeLoad: async ({ context, search }) => {
    const user = await context.queryClient.ensureQueryData(sessionQuery);
    if (user !== null) throw redirect({ href: search.next ?? '/' });
  },
  pendingComponent: Loading,
  pendingMs: PENDING_MS,
  component: lazyPage(() => import('./SignInPage'), 'SignInPage'),
});

/** Where a sign-in link leads: its code is behind the mark, so that no server but ours is told of it. */
export const enterRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/enter',
  validateSearch: (search): { next?: string } => ({ next: ownPath(search.next) }),
  beforeLoad: async ({ context, location, search }) => {
    const user = await context.queryClient.ensureQueryData(sessionQuery);
    // Whoever is signed in is asked first: a link must not make them somebody else unseen.
    if (user !== null) return { user };
    try {
      await followLink(context.queryClient, location.hash);
    } catch (failure) {
      return { failure };
    }
    throw redirect({ href: search.next ?? '/', replace: true });
  },
  pendingComponent: Loading,
  pendingMs: PENDING_MS,
  component: lazyPage(() => import('./EnterPage'), 'EnterPage'),
});
