import { createRouter } from '@tanstack/react-router';
import { adminRoutes } from '@/features/admin/routes';
import { alertsRoute } from '@/features/alerts/routes';
import { enterRoute, signInRoute } from '@/features/auth/routes';
import { dashboardRoute } from '@/features/dashboard/routes';
import { environmentsRoute } from '@/features/environments/routes';
import { filesRoute } from '@/features/files/routes';
import { jobRoute } from '@/features/job/routes';
import { jobsRoute } from '@/features/jobs/routes';
import { compareRoute } from '@/features/metrics/routes';
import { modelRoute, modelsRoute, versionRoute } from '@/features/models/routes';
import { nodeRoute } from '@/features/nodes/routes';
import { notebooksRoute } from '@/features/notebooks/routes';
import { profileRoute } from '@/features/profile/routes';
import { queueRoute } from '@/features/queue/routes';
import { secretsRoute } from '@/features/secrets/routes';
import { submitRoute } from '@/features/submit/routes';
import { usageRoute } from '@/features/usage/routes';
import { PageLoading } from './Loading';
import { Oops } from './Oops';
import { queryClient } from './queryClient';
import { parseSearch, stringifySearch } from './search';
import { rootRoute, shellRoute } from './shellRoute';

const routeTree = rootRoute.addChildren([
  signInRoute,
  enterRoute,
  shellRoute.addChildren([
    dashboardRoute,
    submitRoute,
    jobsRoute,
    jobRoute,
    compareRoute,
    queueRoute,
    nodeRoute,
    notebooksRoute,
    filesRoute,
    modelsRoute,
    modelRoute,
    versionRoute,
    usageRoute,
    environmentsRoute,
    alertsRoute,
    secretsRoute,
    profileRoute,
    ...adminRoutes,
  ]),
]);

export const router = createRouter({
  routeTree,
  context: { queryClient },
  // What a page does not know would go on to the server, which refuses it.
  search: { strict: true },
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
