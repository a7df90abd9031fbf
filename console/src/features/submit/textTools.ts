import { queryOptions } from '@tanstack/react-query';
import { part } from '@/app/renewed';
import type { TextTools } from './draft';

/** What reads and writes job files; the form is there before it. */
export const textToolsQuery = queryOptions({
  queryKey: ['text tools'],
  queryFn: (): Promise<TextTools> => part(() => import('./text')),
  staleTime: Number.POSITIVE_INFINITY,
  gcTime: Number.POSITIVE_INFINITY,
  // A browser remembers that a part did not come, until the page is loaded anew: nobody is kept waiting for it.
  retry: false,
});
