import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  component: lazyPage(() => import('./AlertsPage'), 'AlertsPage'),
});
