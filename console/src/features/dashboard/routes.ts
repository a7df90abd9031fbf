import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const dashboardRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyPage(() => import('./DashboardPage'), 'DashboardPage'),
});
