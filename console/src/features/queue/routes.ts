import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

export const queueRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/queue',
  validateSearch: (given): { queue?: string } => ({ queue: textOf(given.queue) }),
  component: lazyRouteComponent(() => import('./QueuePage'), 'QueuePage'),
});
