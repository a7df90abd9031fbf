import type { Schemas } from '@/api/client';

/** A queue as its form has it: amounts as texts, memory in GB, environments as lines. */
export interface Fields {
  name: string;
  description: string;
  nodes: string[];
  engine: string;
  is_shared: boolean;
  environments: string;
  share_cpus: string;
  share_gb: string;
  share_gpus: string;
  maximum_cpus: string;
  maximum_gb: string;
  maximum_gpus: string;
  keep_logs: string;
  keep_outputs: string;
  keep_work: string;
  keep_code: string;
}

type Kind = 'share' | 'maximum';

/** What a queue can say how long it is kept. */
export const KEPT = ['logs', 'outputs', 'work', 'code'] as const;
type Kept = (typeof KEPT)[number];
const DAY_S = 86_400;
/** Days, or for ever; empty: as the settings say. */
export const DAYS = /^(\d+(\.\d+)?|none)?$/;

export const NUMBER = /^(\d+(\.\d+)?)?$/;
const GB = 1024 ** 3;

const shown = (value: number | null | undefined) => (value ? String(value) : '');
const shownOrZero = (value: number | null | undefined) => (value == null ? '' : String(value));

export function fieldsOf(queue?: Schemas['QueueBody']): Fields {
  const { share, maximum } = queue ?? {};
  return {
    name: queue?.name ?? '',
    description: queue?.description ?? '',
    nodes: queue?.nodes ?? [],
    engine: queue?.engine ?? '',
    is_shared: queue?.is_shared ?? false,
    environments: Object.entries(queue?.environments ?? {})
      .map(([image, path]) => `${image} = ${path}`)
      .join('\n'),
    share_cpus: shown(share?.cpus),
    share_gb: shown((share?.memory_bytes ?? 0) / GB),
    share_gpus: shown(share?.gpus),
    maximum_cpus: shownOrZero(maximum?.cpus),
    maximum_gb: shownOrZero(maximum?.memory_bytes == null ? null : maximum.memory_bytes / GB),
    maximum_gpus: shownOrZero(maximum?.gpus),
    keep_logs: daysOf(queue, 'logs'),
    keep_outputs: daysOf(queue, 'outputs'),
    keep_work: daysOf(queue, 'work'),
    keep_code: daysOf(queue, 'code'),
  };
}

function daysOf(queue: Schemas['QueueBody'] | undefined, part: Kept): string {
  const kept = queue?.retention[part];
  if (kept === undefined) return '';
  return kept === null ? 'none' : String(kept / DAY_S);
}

/** How long what is kept, in seconds; what is left empty is not said. */
export function retentionOf(fields: Fields): Record<string, number | null> {
  const said = KEPT.filter((part) => fields[`keep_${part}`] !== '');
  return Object.fromEntries(said.map((part) => [part, secondsOf(fields[`keep_${part}`])]));
}

const secondsOf = (text: string) => (text === 'none' ? null : Math.round(Number(text) * DAY_S));

export function shareOf(fields: Fields, kind: Kind): Schemas['Amount'] {
  return {
    cpus: Number(fields[`${kind}_cpus`] || 0),
    memory_bytes: Math.round(Number(fields[`${kind}_gb`] || 0) * GB),
    gpus: Number(fields[`${kind}_gpus`] || 0),
  };
}

/** The most that a queue may hold; an empty box means no limit, and three of them none at all. */
export function maximumOf(fields: Fields): Schemas['Maximum'] | null {
  const share = shareOf(fields, 'maximum');
  const given = {
    cpus: fields.maximum_cpus === '' ? null : share.cpus,
    memory_bytes: fields.maximum_gb === '' ? null : share.memory_bytes,
    gpus: fields.maximum_gpus === '' ? null : share.gpus,
  };
  return Object.values(given).every((value) => value === null) ? null : (given as Schemas['Maximum']);
}

export function readEnvironments(text: string): { found: Record<string, string>; badLine?: number } {
  const found: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [, image, path] = /^\s*(\S+)\s*=\s*(\/.*?)\s*$/.exec(line) ?? [];
    if (!image || !path) return { found, badLine: index + 1 };
    found[image] = path;
  }
  return { found };
}
