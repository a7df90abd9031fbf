import { queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { ApiError, answer, api, type Schemas } from '@/api/client';
import { jobsQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import type { Said } from '@/ui/told';
import type { Problem } from './check';
import { type Mapping, parsePath, withValue } from './document';
import { freeName, stemOf } from './names';
import { hasRoles } from './roles';
import { words } from './words';
import { inMyZone } from './zones';

const REFUSED = 422;
const TYPING_MS = 400;
/** A server that was away is asked again that soon. */
const AWAY_MS = 3000;
const AGAIN_MS = 15_000;
const N_NAMES = 100;

/** Names the job whose values are meant where a copy of its configuration hides them. */
export const hiddenValuesOf = (original?: string) => (original ? { 'Hidden-Values-Of': original } : {});

/** Where a document comes from: a job that it is a copy of, or a job file of another system. */
export interface Source {
  clone?: string;
  foreign?: string;
}

/** What is sent of a document: with the file of another system that it was made from, to be kept with the job. */
export const sentOf = (doc: Mapping, foreign?: string): Mapping =>
  foreign === undefined ? inMyZone(doc) : { original: foreign, document: inMyZone(doc) };

/** What the server would do with a document now; nothing is created. */
export const dryRunQuery = (doc: Mapping, { clone, foreign }: Source) =>
  queryOptions({
    queryKey: ['dry-run', doc, clone, foreign],
    queryFn: async ({ signal }): Promise<Schemas['DryRun']> => {
      const { dry_run, refusal } = await answer(
        api.POST('/api/v1/jobs/check', {
          params: { header: hiddenValuesOf(clone) },
          body: sentOf(doc, foreign) as never,
          signal,
        }),
      );
      // What is half typed is refused all the time: that is no failed call.
      if (dry_run === null) throw ApiError.of(REFUSED, refusal);
      return dry_run;
    },
    retry: false,
    staleTime: 5000,
    gcTime: 60_000,
  });

/** Takes the place of a name or a command that nobody has typed yet; nothing else can be made up. */
const STAND_IN = 'x';
const HAS_STAND_IN = /(^|\.)(name|command)$/;
/** A document that the server can judge: what is still to be filled in has something in its place. */
function judgeable(doc: Mapping, missing: readonly Problem[]): Mapping {
  return missing.reduce((filled, { path }) => withValue(filled, parsePath(path), STAND_IN) as Mapping, doc);
}

/**
 * Ask for a dry run once somebody stops typing, and again while they look at it.
 *
 * Whether the resources are free is told as soon as they are typed, not only when the form is full.
 */
export function useDryRun(doc: Mapping, own: readonly Problem[], isReadable: boolean, source: Source) {
  const isComplete = isReadable && own.length === 0;
  const isEarly = own.every(({ path, isMissing }) => isMissing && HAS_STAND_IN.test(path));
  const isJudged = isComplete || (isReadable && isEarly);
  const asked = useMemo(() => (own.length === 0 ? doc : judgeable(doc, own)), [doc, own]);
  const settled = useSettled(asked);
  // While somebody types, the settled document is an older one, and may lack what is there by now.
  const isCurrent = settled === asked;
  const query = useQuery({
    ...dryRunQuery(settled, source),
    enabled: isJudged && isCurrent,
    refetchInterval: ({ state }) =>
      isAway(state.error) ? AWAY_MS : state.status === 'success' ? AGAIN_MS : false,
  });
  return {
    dryRun: isCurrent && isJudged ? query.data : undefined,
    refusal: isCurrent && isJudged ? query.error : null,
    isChecking: isComplete && (!isCurrent || query.isPending),
  };
}

/** Whether it was not the job but the server that could not. */
export const isAway = (error: unknown) => error instanceof ApiError && error.status === 0;

export function useSettled<Value>(value: Value): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Problems that a refusal names by field; a job in the short form has its role's fields at the top. */
export function problemsIn(refusal: Error | null, doc: Mapping, told: (said: Said) => string): Problem[] {
  if (!(refusal instanceof ApiError)) return [];
  return refusal.problems
    .filter(({ path }) => path !== '')
    .map((problem) => ({
      path: hasRoles(doc) ? problem.path : problem.path.replace(/^roles\[0\]\./, ''),
      message: told(problem),
      isMissing: false,
      code: problem.message_code,
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
