import { createRoute } from '@tanstack/react-router';
import { jobsQuery } from '@/api/queries';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';
import { PAGE_SIZE, readSearch } from './search';

export const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs',
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  // The jobs are on their way while the page that shows them is; it waits for them by itself.
  loader: ({ context, deps }) => {
    void context.queryClient.prefetchQuery(jobsQuery({ ...deps, limit: PAGE_SIZE }));
  },
  component: lazyPage(() => import('./JobsPage'), 'JobsPage'),
});
