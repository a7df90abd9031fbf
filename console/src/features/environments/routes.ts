import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

interface EnvironmentsSearch {
  /** Only what this job uses. */
  job?: string;
}

export const environmentsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/environments',
  validateSearch: (search: Record<string, unknown>): EnvironmentsSearch => ({ job: textOf(search.job) }),
  component: lazyPage(() => import('./EnvironmentsPage'), 'EnvironmentsPage'),
});
