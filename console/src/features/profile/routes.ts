import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';

export const profileRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profile',
  component: lazyPage(() => import('./ProfilePage'), 'ProfilePage'),
});
