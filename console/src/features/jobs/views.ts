import { recallList, rememberList } from '@/app/memory';
import type { JobsSearch } from './search';

/** Filters and order under a name. */
export interface View {
  name: string;
  search: JobsSearch;
}

export const MOST_VIEWS = 20;
const keyOf = (user: string) => `footplate.views.${user}`;

export const keptViews = (user: string): View[] => recallList(keyOf(user), isView);

const isView = (given: unknown): given is View =>
  typeof given === 'object' &&
  given !== null &&
  typeof (given as View).name === 'string' &&
  typeof (given as View).search === 'object';

export function keepViews(user: string, views: readonly View[]): void {
  rememberList(keyOf(user), views, MOST_VIEWS);
}

/** A view without the page that somebody happens to be on. */
export const viewOf = ({ after: _page, ...search }: JobsSearch): JobsSearch =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined));

export const isSameView = (one: JobsSearch, other: JobsSearch) =>
  JSON.stringify(Object.entries(viewOf(one)).sort()) === JSON.stringify(Object.entries(viewOf(other)).sort());
