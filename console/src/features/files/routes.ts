import { createRoute } from '@tanstack/react-router';
import { lazyPage } from '@/app/renewed';
import { textOf } from '@/app/search';
import { shellRoute } from '@/app/shellRoute';
import { tidy } from './paths';

/** Where somebody is, all of it in the address: a link leads to the same folder, with the same file open. */
export interface FilesSearch {
  storage?: string;
  /** A job whose files are shown, in place of a storage. */
  job?: string;
  /** Whether one's jobs are shown, to choose one of them. */
  jobs?: boolean;
  path?: string;
  /** The name of the file that is looked at. */
  file?: string;
  after?: string;
}

export const filesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/files',
  validateSearch: (given: Record<string, unknown>): FilesSearch => ({
    storage: textOf(given.storage),
    job: textOf(given.job),
    jobs: given.jobs === true || given.jobs === 'true' || undefined,
    path: tidy(textOf(given.path) ?? '') || undefined,
    file: textOf(given.file),
    after: textOf(given.after),
  }),
  component: lazyPage(() => import('./FilesPage'), 'FilesPage'),
});
