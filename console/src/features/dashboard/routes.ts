import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/shellRoute';

export const dashboardRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./DashboardPage'), 'DashboardPage'),
});
