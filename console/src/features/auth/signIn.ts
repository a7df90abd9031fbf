import type { QueryClient } from '@tanstack/react-query';
import { answer, api, sessionKey } from '@/api/client';
import { keys } from '@/api/queries';

/** Sign this browser in, and forget whatever was read as somebody else. */
export async function signIn(client: QueryClient, user: string, password: string): Promise<void> {
  const session = await answer(api.POST('/api/v1/session', { body: { user, password } }));
  sessionKey.keep(session.key);
  client.clear();
  client.setQueryData(keys.session, session.user);
}
