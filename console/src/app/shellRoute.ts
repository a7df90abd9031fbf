import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { sessionQuery } from '@/api/queries';
import { Oops } from './Oops';
import { NowhereToBeFound, Shell } from './Shell';

interface RouterContext {
  queryClient: QueryClient;
}

export const rootRoute = createRootRouteWithContext<RouterContext>()({
  notFoundComponent: NowhereToBeFound,
  errorComponent: Oops,
});

/** The parent of every page that needs somebody to be signed in: navigation around it, live data below. */
export const shellRoute = createRoute({
  id: 'shell',
  getParentRoute: () => rootRoute,
  beforeLoad: async ({ context, location }) => {
    const user = await context.queryClient.ensureQueryData(sessionQuery);
    if (user === null) throw redirect({ to: '/sign-in', search: { next: location.href } });
    return { user };
  },
  component: Shell,
  errorComponent: Oops,
});
