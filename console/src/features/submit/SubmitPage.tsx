import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import { useMemo } from 'react';
import { call } from '@/api/client';
import { jobSchemaQuery } from '@/api/platformQueries';
import { jobQuery, jobsQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { Composer } from './Composer';
import type { Mapping } from './document';
import { keptDraft, newDraft } from './draft';
import { freeName, stemOf } from './names';
import { simplified } from './roles';
import { readSchema, type Schema } from './schema';
import { readText } from './text';
import { words } from './words';

const route = getRouteApi('/shell/submit');
const N_NAMES = 100;

export function SubmitPage() {
  const say = useWords(words);
  const { clone } = route.useSearch();
  const { data: me } = useQuery(sessionQuery);
  const { data: schema, error } = useQuery(jobSchemaQuery);
  const root = useMemo(() => schema && readSchema(schema as Schema), [schema]);
  const order = useMemo(() => Object.keys((schema as Schema | undefined)?.properties ?? {}), [schema]);
  const copy = useClone(clone, me?.name ?? '');
  const failure = error ?? copy.error;
  if (failure) {
    return (
      <Page title={say.title}>
        <Failure error={failure} />
      </Page>
    );
  }
  if (!root || !me || (clone && !copy.data)) {
    return (
      <Page title={say.title}>
        <Card>
          <Skeleton active paragraph={{ rows: 8 }} />
        </Card>
      </Page>
    );
  }
  const first = copy.data ? newDraft(copy.data.doc, order) : (keptDraft(me.name) ?? newDraft({}, order));
  return (
    <Composer
      key={clone ?? ''}
      user={me.name}
      root={root}
      order={order}
      first={first}
      original={copy.data?.original}
    />
  );
}

/** The configuration of another job, under a name that is free. */
function useClone(id: string | undefined, user: string) {
  return useQuery({
    queryKey: ['clone', id],
    enabled: id !== undefined && user !== '',
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ client }) => {
      const [job, response] = await Promise.all([
        client.fetchQuery(jobQuery(id ?? '')),
        call(`/api/v1/jobs/${encodeURIComponent(id ?? '')}/config`),
      ]);
      // Read by our own reader: a browser's would round long numbers.
      const doc = readText(await response.text(), 'json').doc as Mapping;
      const names = await client.fetchQuery(
        jobsQuery({ owner: [user], search: stemOf(job.name), limit: N_NAMES }),
      );
      const taken = new Set(names.items.map(({ name }) => name));
      return { doc: { ...simplified(doc), name: freeName(job.name, taken) }, original: job.name };
    },
  });
}
