import type { Mapping } from './document';
import { SHORT_FIELDS, without } from './roles';

/** The parts of a document that a template brings; all else that was typed stays. */
const BROUGHT = [...SHORT_FIELDS, 'roles', 'strategy'];

/** What templates can count on. */
export interface Machine {
  hasGpus: boolean;
  /** A workstation, on which several tasks must share few CPUs. */
  isSmall: boolean;
}

type Template = (machine: Machine) => Mapping;

const worker = ({ hasGpus, isSmall }: Machine): Mapping => ({
  cpus: isSmall ? 0.5 : 2,
  memory: isSmall ? '1GB' : '4GB',
  ...(hasGpus ? { gpus: 1 } : {}),
});

const server = ({ isSmall }: Machine): Mapping => ({
  cpus: isSmall ? 0.5 : 1,
  memory: isSmall ? '512MB' : '2GB',
});

const mappings = (...roles: Mapping[]) => roles;

const gang = (strategy: string, name: string, command: string): Template => {
  return (machine) => ({ strategy, roles: [{ name, count: 2, ...worker(machine), command }] });
};

/** A beginning for each way to start a training; the job files below examples/ run as they are. */
export const TEMPLATES: Record<string, Template> = {
  single: (machine) => ({ ...worker(machine), command: 'python train.py' }),
  torchrun: gang('torchrun', 'trainer', 'python train.py'),
  ddp: gang('ddp', 'worker', 'python train.py'),
  'parameter-server': (machine): Mapping => ({
    strategy: 'tensorflow',
    roles: mappings(
      { name: 'ps', count: 1, ...server(machine), command: 'python server.py' },
      {
        name: 'worker',
        count: 2,
        ...worker(machine),
        command: 'python worker.py',
        // Servers never end by themselves: the job is done when the workers are.
        completion: { min_failed: 1, min_succeeded: 2 },
      },
    ),
  }),
  tensorflow: (machine): Mapping => ({
    strategy: 'tensorflow',
    roles: [
      { name: 'chief', count: 1, ...worker(machine), command: 'python train.py' },
      { name: 'worker', count: 2, ...worker(machine), command: 'python train.py' },
    ],
  }),
  mpi: gang('mpi', 'worker', 'mpirun -np $FOOTPLATE_SLOTS python train.py'),
  horovod: gang('horovod', 'worker', 'mpirun -np $FOOTPLATE_SLOTS python train.py'),
  deepspeed: gang('deepspeed', 'worker', 'deepspeed $FOOTPLATE_DEEPSPEED_OPTIONS train.py'),
  jax: gang('jax', 'worker', 'python train.py'),
  plain: gang('plain', 'member', 'python train.py'),
};

/** The names of all templates: ours, and one for each further strategy that the server knows. */
export function templateNames(strategies: readonly string[]): string[] {
  const own = Object.keys(TEMPLATES).filter(
    (name) => name === 'single' || name === 'parameter-server' || strategies.includes(name),
  );
  return [...own, ...strategies.filter((name) => !(name in TEMPLATES))];
}

export function withTemplate(doc: Mapping, name: string, machine: Machine): Mapping {
  const template = TEMPLATES[name] ?? gang(name, 'worker', 'python train.py');
  return { ...without(doc, ...BROUGHT), ...template(machine) };
}
