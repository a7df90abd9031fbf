import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

interface SubmitSearch {
  /** The job whose configuration fills the form. */
  clone?: string;
  /** Files of a storage that the job is to use, as `STORAGE/PATH`. */
  data?: string;
  code?: string;
}

export const submitRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/submit',
  validateSearch: (given): SubmitSearch => ({
    clone: textOf(given.clone),
    data: textOf(given.data),
    code: textOf(given.code),
  }),
  component: lazyPage(() => import('./SubmitPage'), 'SubmitPage'),
});
