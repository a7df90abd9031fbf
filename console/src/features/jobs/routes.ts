import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';
import { readSearch } from './search';

export const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs',
  validateSearch: readSearch,
  component: lazyPage(() => import('./JobsPage'), 'JobsPage'),
});
