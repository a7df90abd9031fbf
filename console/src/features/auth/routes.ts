import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { sessionQuery } from '@/api/queries';
import { rootRoute } from '@/app/shellRoute';
import { ownPath } from './ownPath';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  validateSearch: (search): { next?: string } => ({ next: ownPath(search.next) }),
  beforeLoad: async ({ context, search }) => {
    const user = await context.queryClient.ensureQueryData(sessionQuery);
    if (user !== null) throw redirect({ href: search.next ?? '/' });
  },
  component: lazyRouteComponent(() => import('./SignInPage'), 'SignInPage'),
});
