import { isMapping, type Json } from './document';

/** Job files of other systems, told by their fields: the twin of the server's `domain/foreign.py`. */
export type Foreign = 'pai_v1' | 'pai_v2' | 'ffdl' | 'prophecis' | 'kubernetes' | 'sbatch';

const OF_PROPHECIS = [
  'namespace',
  'code_selector',
  'job_type',
  'job_alert',
  'pss',
  'exp_run_id',
  'tfos_request',
  'mf_model',
];

/** The format of a job file that is not ours; undefined for one that may be. */
export function formatOf(value: Json): Foreign | undefined {
  if (!isMapping(value)) return undefined;
  const has = (name: string) => Object.hasOwn(value, name);
  // Roles by name are those of the later versions, also where the number is forgotten.
  const isLater = !has('jobName') && isMapping(value.taskRoles ?? null);
  if (has('protocolVersion') || isLater) return 'pai_v2';
  if (has('jobName') || has('taskRoles')) return 'pai_v1';
  if (has('apiVersion') && has('kind')) return 'kubernetes';
  // `framework` alone may be the name of one; manifests of FfDL describe it.
  const isManifest = has('data_stores') || (isMapping(value.framework ?? null) && has('learners'));
  if (!isManifest) return undefined;
  return OF_PROPHECIS.some(has) ? 'prophecis' : 'ffdl';
}

/** Whether a text is a script for `sbatch`, which is no document at all. */
export const isBatchScript = (text: string) => text.startsWith('#!') && /^#SBATCH\s/m.test(text);
