import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const notebooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/notebooks',
  component: lazyPage(() => import('./NotebooksPage'), 'NotebooksPage'),
});
