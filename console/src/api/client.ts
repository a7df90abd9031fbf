import createClient from 'openapi-fetch';
import { forget, recall, remember } from '@/app/memory';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];
export type Job = Schemas['JobSummary'];
export type JobDetail = Schemas['JobDetail'];
export type JobState = Schemas['JobState'];
export type TaskState = Schemas['TaskState'];
export type ReasonCode = Schemas['ReasonCode'];
export type ErrorCode = Schemas['ErrorBody']['code'];
export type Task = Schemas['TaskBody'];
export type Attempt = Schemas['AttemptBody'];
export type JobEvent = Schemas['EventBody'];
export type Me = Schemas['Me'];

const KEY = 'footplate.key';

/** Be told when another tab signs in or out. */
export function onOtherSession(listener: () => void): () => void {
  const listen = (event: StorageEvent) => event.key === KEY && listener();
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

let wanted = new AbortController();

/** Wait for no answer, and ask nothing, until somebody signs in: whoever asked has left. */
export function abandonCalls(): void {
  wanted.abort();
}

/** The half of a session that the page keeps; the other is a cookie that it cannot read. */
export const sessionKey = {
  keep: (key: string) => {
    remember(KEY, key);
    wanted = new AbortController();
  },
  drop: () => forget(KEY),
  current: () => recall(KEY),
  isKept: () => recall(KEY) !== null,
  headers: (): Record<string, string> => {
    const key = recall(KEY);
    return key === null ? {} : { 'X-Footplate-Key': key };
  },
};

/** Something said in words that no table has. */
const inWords = (text: string): Schemas['Told'] => ({
  message: text,
  message_code: 'text',
  params: { text },
});

/** A refusal of the server, or that it could not be reached (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode | 'unreachable',
    readonly said: Schemas['Told'],
    readonly problems: readonly Schemas['ProblemBody'][] = [],
    readonly requestId = '',
  ) {
    super(said.message);
    this.name = 'ApiError';
  }

  static unreachable(): ApiError {
    return new ApiError(0, 'unreachable', inWords('the server cannot be reached'));
  }

  static async from(response: Response): Promise<ApiError> {
    try {
      return ApiError.of(response.status, await response.json());
    } catch {
      return new ApiError(response.status, 'internal', inWords(response.statusText));
    }
  }

  static of(status: number, body: unknown): ApiError {
    const { code, message, message_code, params, problems, request_id } = body as Partial<
      Schemas['ErrorBody']
    >;
    const said = {
      ...inWords(message ?? String(body)),
      ...(message_code && { message_code, params: params ?? {} }),
    };
    return new ApiError(status, code ?? 'internal', said, problems, request_id);
  }
}

type Listener = () => void;
const signedOutListeners = new Set<Listener>();

/** Be told when the server no longer knows who is calling. */
export function onSignedOut(listener: Listener): () => void {
  signedOutListeners.add(listener);
  return () => signedOutListeners.delete(listener);
}

export function noteStatus(status: number): void {
  // Whoever has left needs not be told that they have.
  if (status === 401 && !wanted.signal.aborted) for (const listener of signedOutListeners) listener();
}

export const api = createClient<paths>({ baseUrl: '' });

api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(sessionKey.headers())) request.headers.set(name, value);
    if (request.url.endsWith('/session')) return request;
    return new Request(request, { signal: AbortSignal.any([request.signal, wanted.signal]) });
  },
  onResponse({ request, response }) {
    // A wrong password is no lost session.
    if (!request.url.endsWith('/session')) noteStatus(response.status);
    return response;
  },
  onError() {
    return ApiError.unreachable();
  },
});

interface Answer<Data> {
  data?: Data;
  error?: unknown;
  response: Response;
}

/** What a call answered; a refusal is thrown. */
export async function answer<Data>(call: Promise<Answer<Data>>): Promise<Data> {
  const { data, error, response } = await call;
  if (error !== undefined || !response.ok) throw ApiError.of(response.status, error ?? {});
  return data as Data;
}

/** A call beside the typed client, for bytes and streams. */
export async function call(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...sessionKey.headers(), ...(init.headers as Record<string, string> | undefined) };
  let response: Response;
  try {
    const signals = [wanted.signal, ...(init.signal ? [init.signal] : [])];
    response = await fetch(path, { ...init, headers, signal: AbortSignal.any(signals) });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw ApiError.unreachable();
  }
  noteStatus(response.status);
  if (!response.ok) throw await ApiError.from(response);
  return response;
}

/** Let the browser download a path by itself, with a ticket in place of the key. */
export async function download(path: string): Promise<void> {
  const [bare = path, query = ''] = path.split('?');
  const { ticket } = await answer(api.POST('/api/v1/session/tickets', { body: { path: bare } }));
  const link = document.createElement('a');
  link.href = `${bare}?${query ? `${query}&` : ''}ticket=${encodeURIComponent(ticket)}`;
  link.download = '';
  document.body.append(link);
  link.click();
  link.remove();
}
