import type { Schemas } from '@/api/client';

const GB = 1024 ** 3;

export type Kind = Schemas['StorageKind'];
export type Storage = Schemas['StorageBody'];

export const STORAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;
export const POSITIVE_OR_NONE = /^((?=.*[1-9])\d+(\.\d+)?)?$/;

/** Which credentials a kind of storage takes. */
export const CREDENTIALS = {
  folder: [],
  s3: ['access_key_id', 'secret_access_key', 'session_token'],
  http: ['username', 'password', 'token'],
} as const satisfies Record<Kind, readonly (keyof Schemas['StorageCredentials'])[]>;

type Credential = (typeof CREDENTIALS)[Kind][number];

/** A storage as its form has it; the names are those of the API. */
export interface Fields {
  name: string;
  kind: Kind;
  description: string;
  path: string;
  per_user: boolean;
  endpoint: string;
  bucket: string;
  region: string;
  prefix: string;
  virtual_style: boolean;
  credentials: Partial<Record<Credential, string>>;
  forgets: boolean;
  queues: string[];
  users: string[];
  writers: string[];
  read_only: boolean;
  quota_bytes: string;
}

export function fieldsOf(storage?: Storage): Fields {
  return {
    name: storage?.name ?? '',
    kind: storage?.kind ?? 'folder',
    description: storage?.description ?? '',
    path: storage?.path ?? '',
    per_user: storage?.per_user ?? false,
    endpoint: storage?.endpoint ?? '',
    bucket: storage?.bucket ?? '',
    region: storage?.region ?? '',
    prefix: storage?.prefix ?? '',
    virtual_style: storage?.virtual_style ?? false,
    credentials: {},
    forgets: false,
    queues: storage?.queues ?? [],
    users: storage?.users ?? [],
    writers: storage?.writers ?? [],
    read_only: storage?.read_only ?? false,
    quota_bytes: storage?.quota_bytes ? String(storage.quota_bytes / GB) : '',
  };
}

type Place = Pick<
  Schemas['StorageFields'],
  'path' | 'endpoint' | 'bucket' | 'region' | 'prefix' | 'virtual_style'
>;

/** Where it lies: what its kind has, and nothing of the others. */
function placeOf(fields: Fields): Place {
  if (fields.kind === 'folder') return fields.path.trim() ? { path: fields.path.trim() } : {};
  if (fields.kind === 'http') return { endpoint: fields.endpoint.trim() };
  return {
    endpoint: fields.endpoint.trim(),
    bucket: fields.bucket.trim(),
    region: fields.region.trim(),
    prefix: fields.prefix.trim(),
    virtual_style: fields.virtual_style,
  };
}

/** New credentials, none when they are to be forgotten, and nothing when they stay as they are. */
function credentialsOf({ kind, credentials, forgets }: Fields): Schemas['StorageCredentials'] | undefined {
  if (forgets) return {} as Schemas['StorageCredentials'];
  const given = CREDENTIALS[kind].flatMap((name) => (credentials[name] ? [[name, credentials[name]]] : []));
  return given.length > 0 ? (Object.fromEntries(given) as Schemas['StorageCredentials']) : undefined;
}

export function bodyOf(fields: Fields): Schemas['StorageFields'] {
  const credentials = credentialsOf(fields);
  return {
    description: fields.description,
    queues: fields.queues,
    users: fields.users,
    writers: fields.writers,
    ...(fields.kind !== 'http' && { read_only: fields.read_only }),
    quota_bytes: fields.quota_bytes === '' ? null : Math.round(Number(fields.quota_bytes) * GB),
    ...placeOf(fields),
    ...(credentials && { credentials }),
  };
}
