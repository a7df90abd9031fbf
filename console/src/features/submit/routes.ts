import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';

export const submitRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/submit',
  /** `clone` is the job whose configuration fills the form. */
  validateSearch: (given): { clone?: string } => ({ clone: textOf(given.clone) }),
  component: lazyPage(() => import('./SubmitPage'), 'SubmitPage'),
});
