import { createRoute } from '@tanstack/react-router';
import { jobQuery } from '@/api/queries';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';
import { metricsQuery, UNCHANGED } from '@/features/metrics/queries';

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
  // The job is on its way while the page that shows it is, and so are its curves.
  loader: ({ context, params, location }) => {
    void context.queryClient.prefetchQuery(jobQuery(params.jobId));
    if ((location.search as JobSearch).tab !== 'metrics') return;
    void context.queryClient.prefetchQuery(metricsQuery(params.jobId, UNCHANGED));
    void import('@/features/metrics/MetricsTab').catch(() => undefined);
  },
  component: lazyPage(() => import('./JobPage'), 'JobPage'),
});
