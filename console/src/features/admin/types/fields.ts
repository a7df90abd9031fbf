import type { Schemas } from '@/api/client';

const GB = 1024 ** 3;

export const POSITIVE = /^(?=.*[1-9])\d+(\.\d+)?$/;
export const POSITIVE_OR_NONE = /^((?=.*[1-9])\d+(\.\d+)?)?$/;
export const COUNT = /^\d*$/;
export const POSITION = /^-?\d*$/;
export const CHOICE_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

/** An instance type as its form has it: numbers as texts, sizes in GB. The names are those of the API. */
export interface TypeFields {
  name: string;
  cpus: string;
  memory_bytes: string;
  gpus: string;
  gpu_type: string;
  shm_bytes: string;
  description: string;
  position: string;
}

const inGb = (size: number | null | undefined) => (size ? String(size / GB) : '');
const ofGb = (text: string) => Math.round(Number(text) * GB);

export function typeFields(type?: Schemas['OfferedType']): TypeFields {
  return {
    name: type?.name ?? '',
    cpus: type ? String(type.cpus) : '',
    memory_bytes: inGb(type?.memory_bytes),
    gpus: type?.gpus ? String(type.gpus) : '',
    gpu_type: type?.gpu_type ?? '',
    shm_bytes: inGb(type?.shm_bytes),
    description: type?.description ?? '',
    position: type?.position ? String(type.position) : '',
  };
}

export function typeBody(fields: TypeFields): Schemas['TypeChange'] {
  return {
    cpus: Number(fields.cpus),
    memory_bytes: ofGb(fields.memory_bytes),
    gpus: Number(fields.gpus || 0),
    gpu_type: fields.gpu_type.trim(),
    shm_bytes: fields.shm_bytes === '' ? null : ofGb(fields.shm_bytes),
    description: fields.description,
    position: Number(fields.position || 0),
  };
}

/** A framework as its form has it; packages are lines. */
export interface FrameworkFields {
  name: string;
  version: string;
  image: string;
  environment: string;
  path: string;
  python: string;
  strategies: string[];
  strategy: string;
  description: string;
  position: string;
}

interface Environment {
  requirements?: string[];
  path?: string;
  python?: string;
}

export function frameworkFields(framework?: Schemas['FrameworkBody']): FrameworkFields {
  const environment = (framework?.environment ?? {}) as Environment;
  return {
    name: framework?.name ?? '',
    version: framework?.version ?? '',
    image: framework?.image ?? '',
    environment: (environment.requirements ?? []).join('\n'),
    path: environment.path ?? '',
    python: environment.python ?? '',
    strategies: framework?.strategies ?? [],
    strategy: framework?.strategy ?? '',
    description: framework?.description ?? '',
    position: framework?.position ? String(framework.position) : '',
  };
}

export function frameworkBody(fields: FrameworkFields): Schemas['FrameworkChange'] {
  return {
    image: fields.image.trim(),
    environment: environmentOf(fields),
    strategies: fields.strategies,
    strategy: fields.strategy,
    description: fields.description,
    position: Number(fields.position || 0),
  };
}

/** What is wrong with packages and a path together is the server's to say. */
function environmentOf(fields: FrameworkFields): { [name: string]: unknown } | null {
  const requirements = fields.environment.split('\n').flatMap((line) => line.trim() || []);
  const environment = {
    ...(requirements.length > 0 && { requirements }),
    ...(fields.path.trim() && { path: fields.path.trim() }),
    ...(fields.python.trim() && { python: fields.python.trim() }),
  };
  return Object.keys(environment).length > 0 ? environment : null;
}

/** An inference environment as its form has it. */
export interface InferenceFields {
  name: string;
  image: string;
  framework: string;
  version: string;
  description: string;
  position: string;
}

export function inferenceFields(environment?: Schemas['InferenceBody']): InferenceFields {
  return {
    name: environment?.name ?? '',
    image: environment?.image ?? '',
    framework: environment?.framework ?? '',
    version: environment?.version ?? '',
    description: environment?.description ?? '',
    position: environment?.position ? String(environment.position) : '',
  };
}

export function inferenceBody(fields: InferenceFields): Schemas['InferenceChange'] {
  return {
    image: (fields.image ?? '').trim(),
    framework: fields.framework.trim(),
    version: fields.version.trim(),
    description: fields.description,
    position: Number(fields.position || 0),
  };
}
