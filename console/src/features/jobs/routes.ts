import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/shellRoute';
import { readSearch } from './search';

export const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./JobsPage'), 'JobsPage'),
});
