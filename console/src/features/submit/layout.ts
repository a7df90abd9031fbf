import { type Mapping, type Path, parsePath } from './document';
import { SHORT_FIELDS } from './roles';
import type { Field, RecordOf } from './schema';

export const SECTIONS = ['basics', 'image', 'resources', 'directories', 'alerts', 'execution'] as const;
export type SectionName = (typeof SECTIONS)[number];

interface Shown {
  /** Always there. */
  basic: readonly string[];
  /** In professional mode, and where the document has a value for them. */
  more: readonly string[];
}

/** Which fields of the job are in which section, in order. */
export const JOB_LAYOUT: Record<SectionName, Shown> = {
  basics: { basic: ['name', 'queue', 'description'], more: ['tags', 'priority', 'shared'] },
  image: { basic: ['framework', 'image', 'environment'], more: ['image_credentials'] },
  resources: { basic: [], more: [] },
  directories: { basic: ['code', 'data', 'results'], more: ['model'] },
  alerts: { basic: ['alerts'], more: [] },
  execution: {
    basic: ['env', 'time_limit', 'retry'],
    more: [
      'parameters',
      'secrets',
      'deadline',
      'hang',
      'idle_limit',
      'grace',
      'keep_on_failure',
      'on_failure',
      'log_metrics',
      'services',
      'extras',
    ],
  },
};

/** The steps of the guided form. */
export const guidedSteps = (_doc: Mapping): readonly SectionName[] => SECTIONS;

/** Fields that few jobs have: in professional mode behind a line to open. */
export const RARE: ReadonlySet<string> = new Set([
  'image_credentials',
  'model',
  'on_failure',
  'log_metrics',
  'services',
  'extras',
  'ports',
  'completion',
]);

/** The fields of a role; its command is in the last section, the others with the resources. */
export const ROLE_LAYOUT: Shown = {
  basic: ['type', 'cpus', 'memory', 'gpus', 'gpu_type', 'shm'],
  more: ['task_retry', 'image', 'env', 'ports', 'completion'],
};

/** What an instance type says, and a role that has one does not. */
export const OF_A_TYPE: ReadonlySet<string> = new Set(['cpus', 'memory', 'gpus', 'gpu_type']);

/** Kept with the job, while no server acts on them yet. */
export const STORED_ONLY: ReadonlySet<string> = new Set();

const OF_ROLES: ReadonlySet<string> = new Set([...SHORT_FIELDS, 'roles', 'strategy']);
const PLACES = new Map<string, SectionName>(
  SECTIONS.flatMap((section) => {
    const { basic, more } = JOB_LAYOUT[section];
    return [...basic, ...more].map((name): [string, SectionName] => [name, section]);
  }),
);

/** The section that a path's field is in. */
export function sectionOf(path: Path): SectionName {
  const [first, , third] = path;
  if (first === 'command' || (first === 'roles' && third === 'command')) return 'execution';
  if (typeof first === 'string' && OF_ROLES.has(first)) return 'resources';
  return PLACES.get(String(first)) ?? 'execution';
}

export const sectionOfText = (path: string) => sectionOf(parsePath(path));

/** Fields of the schema that no section names: they come last, so that none is ever out of reach. */
export function unplaced(root: Field): string[] {
  if (root.kind !== 'record') return [];
  return Object.keys(root.fields).filter((name) => !PLACES.has(name) && !OF_ROLES.has(name));
}

export function unplacedOfRole(role: RecordOf): string[] {
  const known = new Set([...ROLE_LAYOUT.basic, ...ROLE_LAYOUT.more, 'name', 'count', 'command']);
  return Object.keys(role.fields).filter((name) => !known.has(name));
}
