import type { QueryClient } from '@tanstack/react-query';
import { answer, api, type Schemas, sessionKey } from '@/api/client';
import { keys } from '@/api/queries';

/** Sign this browser in by a password. */
export async function signIn(client: QueryClient, user: string, password: string): Promise<void> {
  begin(client, await answer(api.POST('/api/v1/session', { body: { user, password } })));
}

/** Sign this browser in by the code of a link, which is used up. */
export async function followLink(client: QueryClient, code: string): Promise<void> {
  begin(client, await answer(api.POST('/api/v1/session/links/follow', { body: { code: code || '-' } })));
}

/** Keep the session, and forget whatever was read as somebody else. */
function begin(client: QueryClient, session: Schemas['NewSession']): void {
  sessionKey.keep(session.key);
  client.clear();
  client.setQueryData(keys.session, session.user);
}
