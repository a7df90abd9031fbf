import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { ApiError, answer, api, type Schemas } from '@/api/client';
import { jobsQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import type { Problem } from './check';
import type { Mapping } from './document';
import { freeName, stemOf } from './names';
import { hasRoles } from './roles';
import { words } from './words';

const TYPING_MS = 400;
const AGAIN_MS = 15_000;
const N_NAMES = 100;

/** What the server would do with a document now; nothing is created. */
export const forecastQuery = (doc: Mapping) =>
  queryOptions({
    queryKey: ['forecast', doc],
    queryFn: ({ signal }): Promise<Schemas['DryRun']> =>
      answer(api.POST('/api/v1/jobs/dry-run', { body: doc as never, signal })),
    retry: false,
    staleTime: 5000,
    gcTime: 60_000,
  });

/** Ask for a forecast once somebody stops typing, and again while they look at it. */
export function useForecast(doc: Mapping, isComplete: boolean) {
  const settled = useSettled(doc);
  // While somebody types, the settled document is an older one, and may lack what is there by now.
  const isCurrent = settled === doc;
  const query = useQuery({
    ...forecastQuery(settled),
    enabled: isComplete && isCurrent,
    refetchInterval: ({ state }) => (state.status === 'success' ? AGAIN_MS : false),
  });
  return {
    forecast: isCurrent && isComplete ? query.data : undefined,
    refusal: isCurrent && isComplete ? query.error : null,
    isChecking: isComplete && (!isCurrent || query.isPending),
  };
}

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Problems that a refusal names by field; a job in the short form has its role's fields at the top. */
export function problemsIn(
  refusal: Error | null,
  doc: Mapping,
  told: (message: string) => string,
): Problem[] {
  if (!(refusal instanceof ApiError)) return [];
  return refusal.problems
    .filter(({ path }) => path !== '')
    .map(({ path, message }) => ({
      path: hasRoles(doc) ? path : path.replace(/^roles\[0\]\./, ''),
      message: told(message),
      isMissing: false,
    }));
}

/** Whether the caller has a job of this name already, and a name that is free. */
export function useNameCheck(name: unknown, user: string) {
  const say = useWords(words);
  const settled = useSettled(typeof name === 'string' ? name : '');
  const stem = stemOf(settled);
  const { data } = useQuery({
    ...jobsQuery({ owner: [user], search: stem, limit: N_NAMES }),
    enabled: stem !== '',
  });
  const taken = new Set(data?.items.map((job) => job.name));
  const isTaken = settled === name && taken.has(settled);
  const problem: Problem | undefined = isTaken
    ? { path: 'name', message: say.nameTaken(settled), isMissing: false }
    : undefined;
  return { problem, free: isTaken ? freeName(settled, taken) : undefined };
}
