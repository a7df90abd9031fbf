import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { sessionKey } from '@/api/client';
import { sessionQuery } from '@/api/queries';
import { Loading } from './Loading';
import { Oops } from './Oops';
import { NowhereToBeFound, Shell } from './Shell';

/** A blank page for longer than this makes people wonder. */
export const PENDING_MS = 150;

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
    // A browser that still has a key was signed in before.
    const ended = sessionKey.isKept() || undefined;
    if (user === null) throw redirect({ to: '/sign-in', search: { next: location.href, ended } });
    return { user };
  },
  component: Shell,
  pendingComponent: Loading,
  pendingMs: PENDING_MS,
  errorComponent: Oops,
});
