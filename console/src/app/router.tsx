import { createRouter } from '@tanstack/react-router';
import { adminRoutes } from '@/features/admin/routes';
import { signInRoute } from '@/features/auth/routes';
import { dashboardRoute } from '@/features/dashboard/routes';
import { jobRoute } from '@/features/job/routes';
import { jobsRoute } from '@/features/jobs/routes';
import { profileRoute } from '@/features/profile/routes';
import { queueRoute } from '@/features/queue/routes';
import { secretsRoute } from '@/features/secrets/routes';
import { submitRoute } from '@/features/submit/routes';
import { PageLoading } from './Loading';
import { Oops } from './Oops';
import { queryClient } from './queryClient';
import { parseSearch, stringifySearch } from './search';
import { rootRoute, shellRoute } from './shellRoute';

const routeTree = rootRoute.addChildren([
  signInRoute,
  shellRoute.addChildren([
    dashboardRoute,
    submitRoute,
    jobsRoute,
    jobRoute,
    queueRoute,
    secretsRoute,
    profileRoute,
    ...adminRoutes,
  ]),
]);

export const router = createRouter({
  routeTree,
  context: { queryClient },
  parseSearch,
  stringifySearch,
  defaultErrorComponent: Oops,
  defaultPendingComponent: PageLoading,
  defaultPendingMs: 300,
  defaultPendingMinMs: 0,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
