import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

interface ModelsSearch {
  search?: string;
  /** Those in the trash instead of the others. */
  trash?: 'true';
}

export const modelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models',
  validateSearch: (given: Record<string, unknown>): ModelsSearch => ({
    search: textOf(given.search),
    trash: textOf(given.trash) === 'true' ? 'true' : undefined,
  }),
  component: lazyPage(() => import('./ModelsPage'), 'ModelsPage'),
});

export const modelRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$modelId',
  component: lazyPage(() => import('./ModelPage'), 'ModelPage'),
});

export const versionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/models/$modelId/versions/$version',
  component: lazyPage(() => import('./VersionPage'), 'VersionPage'),
});
