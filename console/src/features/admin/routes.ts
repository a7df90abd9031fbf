import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { shellRoute } from '@/app/shellRoute';
import { readAuditSearch } from './audit/search';

const parent = { getParentRoute: () => shellRoute };

export const adminRoutes = [
  createRoute({
    ...parent,
    path: '/admin/users',
    component: lazyPage(() => import('./users/UsersPage'), 'UsersPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/queues',
    component: lazyPage(() => import('./queues/QueuesPage'), 'QueuesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/nodes',
    component: lazyPage(() => import('./nodes/NodesPage'), 'NodesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/images',
    component: lazyPage(() => import('./images/ImagesPage'), 'ImagesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/types',
    component: lazyPage(() => import('./types/TypesPage'), 'TypesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/storages',
    component: lazyPage(() => import('./storages/StoragesPage'), 'StoragesPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/audit',
    validateSearch: readAuditSearch,
    component: lazyPage(() => import('./audit/AuditPage'), 'AuditPage'),
  }),
  createRoute({
    ...parent,
    path: '/admin/settings',
    component: lazyPage(() => import('./settings/SettingsPage'), 'SettingsPage'),
  }),
] as const;
