import type { Json, Mapping, Path } from './document';
import { valueAt } from './document';
import { showSize, showSpan } from './measures';
import { hasRoles, rolePaths } from './roles';

/** What the server says would start now: of the only role, or of the one that it names. */
export interface WouldFit {
  role?: string;
  gpus_per_task?: number;
  milli_cpus_per_task?: number;
  memory_bytes_per_task?: number;
  tasks?: number;
  time_limit_s?: number;
}

export interface Offer {
  kind: 'gpus' | 'cpus' | 'memory' | 'tasks' | 'time_limit';
  /** What a label tells: cards, CPUs, bytes, tasks or seconds. */
  amount: number;
  /** The role to change, where there are several. */
  role: string | undefined;
  path: Path;
  value: Json;
}

const MIB = 1024 ** 2;
/** Somebody looks at an offer for a while before they take it. */
const LOOKED_AT_S = 30;

/** Changes of a document that the server would start at once. */
export function offersOf(fit: WouldFit | undefined, doc: Mapping): Offer[] {
  if (!fit) return [];
  const offers: Offer[] = [];
  const add = (kind: Offer['kind'], path: Path | undefined, amount: number | undefined, value: Json) => {
    if (path && amount) offers.push({ kind, amount, role: fit.role, path, value });
  };
  const role = roleOf(fit.role, doc);
  const at = (field: string) => role && [...role, field];
  const cpus = (fit.milli_cpus_per_task ?? 0) / 1000;
  add('gpus', at('gpus'), fit.gpus_per_task, fit.gpus_per_task ?? 0);
  add('cpus', at('cpus'), cpus, cpus);
  // Rounded down to whole megabytes: what is offered must fit.
  const nMegabytes = Math.floor((fit.memory_bytes_per_task ?? 0) / MIB);
  const memory = nMegabytes % 1024 === 0 ? showSize(nMegabytes * MIB) : `${nMegabytes}MB`;
  add('memory', at('memory'), nMegabytes * MIB, memory);
  add('tasks', at('count'), fit.tasks, fit.tasks ?? 0);
  const limit = wholeMinutes((fit.time_limit_s ?? 0) - LOOKED_AT_S);
  add('time_limit', ['time_limit'], limit, showSpan(limit));
  return offers;
}

/** Where the fields of a role are; a role without a name is called main. */
function roleOf(name: string | undefined, doc: Mapping): Path | undefined {
  const paths = rolePaths(doc);
  if (name === undefined) return paths.length === 1 || !hasRoles(doc) ? paths[0] : undefined;
  return paths.find((path) => (valueAt(doc, [...path, 'name']) ?? 'main') === name);
}

const wholeMinutes = (seconds: number) => Math.max(0, Math.floor(seconds / 60) * 60);
