import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

export const GROUPS = ['job', 'user', 'queue', 'tag'] as const;
export type Group = (typeof GROUPS)[number];
export const DAYS = ['1', '7', '30', '90', '365'] as const;

interface UsageSearch {
  by?: Group;
  days?: string;
}

export const usageRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/usage',
  validateSearch: (given: Record<string, unknown>): UsageSearch => ({
    by: GROUPS.find((one) => one === given.by),
    days: DAYS.find((one) => one === textOf(given.days)),
  }),
  component: lazyPage(() => import('./UsagePage'), 'UsagePage'),
});
