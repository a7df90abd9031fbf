import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

export const TABS = ['overview', 'logs', 'metrics', 'usage', 'events', 'config', 'exec'] as const;
export type Tab = (typeof TABS)[number];

export interface JobSearch {
  tab?: Tab;
  task?: string;
  attempt?: string;
}

export const jobRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/jobs/$jobId',
  validateSearch: (given): JobSearch => ({
    tab: TABS.find((tab) => tab === given.tab && tab !== 'overview'),
    task: textOf(given.task),
    attempt: textOf(given.attempt),
  }),
  component: lazyPage(() => import('./JobPage'), 'JobPage'),
});
