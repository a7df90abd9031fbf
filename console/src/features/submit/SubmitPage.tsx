import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import { useMemo, useState } from 'react';
import { call } from '@/api/client';
import { jobSchemaQuery } from '@/api/platformQueries';
import { jobQuery, jobsQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { CloneNote } from './CloneNote';
import { Composer } from './Composer';
import type { Mapping } from './document';
import { dropDraft, keptDraft, newDraft } from './draft';
import { freeName, stemOf } from './names';
import { simplified } from './roles';
import { readSchema, type Schema } from './schema';
import { filesOf, seedOf } from './seeds';
import { textToolsQuery } from './textTools';
import { words } from './words';

const route = getRouteApi('/shell/submit');
const N_NAMES = 100;

export function SubmitPage() {
  const say = useWords(words);
  const { clone, data, code } = route.useSearch();
  const seed = seedOf(data, code);
  const { data: me } = useQuery(sessionQuery);
  const { data: schema, error } = useQuery(jobSchemaQuery);
  const root = useMemo(() => schema && readSchema(schema as Schema), [schema]);
  const order = useMemo(() => Object.keys((schema as Schema | undefined)?.properties ?? {}), [schema]);
  const { data: tools, error: toolsError } = useQuery(textToolsQuery);
  const user = me?.name ?? '';
  const [nCopies, setCopies] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a copy that is taken anew has nothing kept any more
  const kept = useMemo(
    () => (user ? keptDraft({ user, clone, seed }) : undefined),
    [clone, seed, user, nCopies],
  );
  const copy = useClone(kept ? undefined : clone, user, nCopies);
  // A text that was typed before is changed in its place; that takes more than writing a new one.
  const lacksTools = typeof kept?.text === 'string' && !tools;
  const failure = error ?? copy.error ?? (lacksTools ? toolsError : null);
  if (failure) {
    return (
      <Page title={say.title}>
        {/* A part that a newer console no longer has comes only with the page. */}
        <Failure error={failure} onRetry={() => window.location.reload()} />
      </Page>
    );
  }
  if (!root || !me || lacksTools || (clone && !kept && !copy.data)) {
    return (
      <Page title={say.title}>
        <Card>
          <Skeleton active paragraph={{ rows: 8 }} />
        </Card>
      </Page>
    );
  }
  const first =
    kept ?? (copy.data ? newDraft(copy.data.doc, copy.data.original) : newDraft(filesOf(data, code)));
  const copyAnew = () => {
    dropDraft({ user, clone, seed });
    setCopies(nCopies + 1);
  };
  return (
    <Composer
      key={`${clone ?? seed ?? ''} ${nCopies}`}
      place={{ user, clone, seed }}
      root={root}
      order={order}
      first={first}
      tools={tools}
      note={
        first.original !== undefined && (
          <CloneNote
            original={first.original}
            isKept={kept !== undefined}
            hasDraft={hasDraft(user)}
            onCopyAnew={copyAnew}
          />
        )
      }
    />
  );
}

/** Whether something is waiting that did not begin as a copy. */
function hasDraft(user: string): boolean {
  return Object.keys(keptDraft({ user })?.doc ?? {}).length > 0;
}

/** The configuration of another job, under a name that is free. */
function useClone(id: string | undefined, user: string, nCopies: number) {
  return useQuery({
    queryKey: ['clone', id, nCopies],
    enabled: id !== undefined && user !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ client }) => {
      const [schema, job, response, { readText }] = await Promise.all([
        client.fetchQuery(jobSchemaQuery),
        client.fetchQuery(jobQuery(id ?? '')),
        call(`/api/v1/jobs/${encodeURIComponent(id ?? '')}/config`),
        client.fetchQuery(textToolsQuery),
      ]);
      // Read by our own reader: a browser's would round long numbers and write others anew.
      const doc = readText(await response.text(), 'json', readSchema(schema as Schema)).doc as Mapping;
      const names = await client.fetchQuery(
        jobsQuery({ owner: [user], search: stemOf(job.name), limit: N_NAMES }),
      );
      const taken = new Set(names.items.map(({ name }) => name));
      return { doc: { ...simplified(doc), name: freeName(job.name, taken) }, original: job.name };
    },
  });
}
