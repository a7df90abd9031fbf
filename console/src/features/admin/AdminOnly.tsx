import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Card, Nothing, Page } from '@/ui/Page';
import { words } from './words';

/** A page for platform admins; others are told so, and the server refuses them in any case. */
export function AdminOnly({ title, children }: { title: string; children: ReactNode }) {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  if (me?.is_admin) return children;
  return (
    <Page title={title}>
      <Card>
        <Nothing title={say.onlyAdmins} hint={say.onlyAdminsHint} />
      </Card>
    </Page>
  );
}
