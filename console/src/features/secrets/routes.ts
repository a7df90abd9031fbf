import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const secretsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/secrets',
  component: lazyPage(() => import('./SecretsPage'), 'SecretsPage'),
});
