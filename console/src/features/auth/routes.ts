import { createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '@/api/queries';
import { Loading } from '@/app/Loading';
import { lazyPage } from '@/app/renewed';
import { PENDING_MS, rootRoute } from '@/app/shellRoute';
import { ownPath } from './ownPath';

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
