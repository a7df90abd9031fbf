import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

const parent = { getParentRoute: () => shellRoute };

export const adminRoutes = [
  createRoute({
    ...parent,
    path: '/admin/users',
    component: lazyRouteComponent(() => import('./users/UsersPage'), 'UsersPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/queues',
    component: lazyRouteComponent(() => import('./queues/QueuesPage'), 'QueuesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/nodes',
    component: lazyRouteComponent(() => import('./nodes/NodesPage'), 'NodesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/images',
    component: lazyRouteComponent(() => import('./images/ImagesPage'), 'ImagesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/audit',
    validateSearch: (given): { actor?: string } => ({ actor: textOf(given.actor) }),
    component: lazyRouteComponent(() => import('./audit/AuditPage'), 'AuditPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/settings',
    component: lazyRouteComponent(() => import('./settings/SettingsPage'), 'SettingsPage'),
  }),
] as const;
