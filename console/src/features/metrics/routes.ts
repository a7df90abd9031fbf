import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

interface CompareSearch {
  /** Ids, with commas between them. */
  jobs?: string;
}

export const compareRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/compare',
  validateSearch: (search: Record<string, unknown>): CompareSearch => ({ jobs: textOf(search.jobs) }),
  component: lazyPage(() => import('./ComparePage'), 'ComparePage'),
});
