import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

export const queueRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/queue',
  validateSearch: (given): { queue?: string } => ({ queue: textOf(given.queue) }),
  component: lazyPage(() => import('./QueuePage'), 'QueuePage'),
});
