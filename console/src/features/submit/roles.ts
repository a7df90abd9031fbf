import { isMapping, isSame, type Json, type Mapping, type Path } from './document';

/** What a job of one role writes beside its name; the schema marks these fields so. */
export const SHORT_FIELDS = [
  'command',
  'count',
  'type',
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

/** The single task as a job of many again: as it was left, with what has been changed in its first role since. */
export function asMany(single: Mapping, left: Mapping | undefined): Mapping {
  if (!left || !isDistributed(left)) return withRoleList(single);
  if (!hasRoles(left)) return { ...single, ...only(left, 'count', 'completion', 'strategy') };
  const [first = {}, ...others] = left.roles;
  const before = isMapping(first) ? first : {};
  const job = { ...without(single, ...SHORT_FIELDS), ...only(left, 'strategy') };
  const role = { ...without(before, ...CARRIED), ...only(single, ...CARRIED) };
  // What the first role had of its own was the single task's; the job's own comes back for the others.
  for (const field of ['image', 'env']) {
    if (before[field] === undefined) continue;
    if (single[field] === undefined) delete role[field];
    else if (!isSame(single[field], asSingle(left)[field])) role[field] = single[field];
    if (left[field] === undefined) delete job[field];
    else job[field] = left[field];
  }
  return { ...job, roles: [role, ...others] };
}

/** What a single task takes over from the first role, and gives back to it. */
const CARRIED = SHORT_FIELDS.filter((field) => field !== 'count' && field !== 'completion');

const only = (doc: Mapping, ...fields: string[]): Mapping =>
  Object.fromEntries(Object.entries(doc).filter(([field]) => fields.includes(field)));

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
