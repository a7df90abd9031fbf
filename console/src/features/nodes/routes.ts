import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const nodeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/nodes/$name',
  component: lazyPage(() => import('./NodePage'), 'NodePage'),
});
