import { isMapping, type Json, type Mapping, type Path } from './document';

/** What a job of one role writes beside its name; the schema marks these fields so. */
export const SHORT_FIELDS = [
  'command',
  'count',
  'cpus',
  'memory',
  'shm',
  'gpus',
  'gpu_type',
  'ports',
  'completion',
  'task_retry',
] as const;
const IS_SHORT: ReadonlySet<string> = new Set(SHORT_FIELDS);

export const hasRoles = (doc: Mapping): doc is Mapping & { roles: Json[] } => Array.isArray(doc.roles);

/** Where the fields of each role are: in the list, or at the top of a document in the short form. */
export function rolePaths(doc: Mapping): Path[] {
  return hasRoles(doc) ? doc.roles.map((_role, index) => ['roles', index]) : [[]];
}

/** The same job with a list of roles. */
export function withRoleList(doc: Mapping, name = 'worker'): Mapping {
  if (hasRoles(doc)) return doc;
  const role: Mapping = { name };
  const rest: Mapping = {};
  for (const [field, value] of Object.entries(doc)) {
    if (IS_SHORT.has(field)) role[field] = value;
    else rest[field] = value;
  }
  return { ...rest, roles: [role] };
}

/** The same job as a single task: its first role, in the short form. */
export function asSingle(doc: Mapping): Mapping {
  if (!hasRoles(doc)) return without(doc, 'count', 'strategy');
  const first = isMapping(doc.roles[0]) ? doc.roles[0] : {};
  const single = without(doc, 'roles', 'strategy');
  for (const [field, value] of Object.entries(first)) {
    if (IS_SHORT.has(field) && field !== 'count' && field !== 'completion') single[field] = value;
  }
  if (typeof first.image === 'string' && first.image) single.image = first.image;
  if (isMapping(first.env)) single.env = { ...(isMapping(doc.env) ? doc.env : {}), ...first.env };
  return single;
}

export function isDistributed(doc: Mapping): boolean {
  return hasRoles(doc) || (doc.count !== undefined && doc.count !== 1) || Boolean(doc.strategy);
}

/** One more role, with a name that is free. */
export function withOneMoreRole(doc: Mapping): Mapping {
  const listed = withRoleList(doc);
  const roles = hasRoles(listed) ? listed.roles : [];
  const taken = new Set(roles.map((role) => (isMapping(role) ? role.name : undefined)));
  let number = roles.length + 1;
  while (taken.has(`role${number}`)) number += 1;
  return { ...listed, roles: [...roles, { name: `role${number}`, count: 1, cpus: 1, memory: '1GB' }] };
}

export function without(doc: Mapping, ...fields: string[]): Mapping {
  return Object.fromEntries(Object.entries(doc).filter(([field]) => !fields.includes(field)));
}

export function nTasks(doc: Mapping): number {
  const roles = hasRoles(doc) ? doc.roles : [doc];
  return roles.reduce<number>((sum, role) => {
    const count = isMapping(role) ? role.count : undefined;
    return sum + (typeof count === 'number' ? count : 1);
  }, 0);
}

/** The same document in the short form, where that says everything. */
export function simplified(doc: Mapping): Mapping {
  if (!hasRoles(doc) || doc.roles.length !== 1) return doc;
  const { name = 'main', ...role } = isMapping(doc.roles[0]) ? doc.roles[0] : {};
  if (name !== 'main' || Object.keys(role).some((field) => !IS_SHORT.has(field))) return doc;
  return { ...without(doc, 'roles'), ...(role.count === 1 ? without(role, 'count') : role) };
}
