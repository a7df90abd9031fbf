import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/shellRoute';

export const secretsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/secrets',
  component: lazyRouteComponent(() => import('./SecretsPage'), 'SecretsPage'),
});
