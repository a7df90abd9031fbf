import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { words } from './words';

const STEPS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** Bytes as the rest of Footplate writes them: powers of 1024, two digits that matter. */
export function bytes(amount: number): string {
  let size = amount;
  let step = 0;
  while (size >= 1024 && step < STEPS.length - 1) {
    size /= 1024;
    step += 1;
  }
  return `${number(size)} ${STEPS[step]}`;
}

/** Two amounts in the unit of the second, so that they can be compared at a glance. */
export function bytesOf(used: number, total: number): string {
  const step = Math.min(STEPS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(total, 1)) / 10)));
  const inUnit = (amount: number) => number(amount / 1024 ** step);
  return `${inUnit(used)} / ${inUnit(total)} ${STEPS[step]}`;
}

export function number(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 10 ? 2 : 1).replace(/\.?0+$/, '');
}

const HARD_SPACE = '\u00a0';

/** What a job holds or asks for, in a line; where that must break, it does so between two amounts. */
export function useAmount(): (amount: Schemas['Amount']) => string {
  const say = useWords(words);
  return ({ cpus = 0, memory_bytes = 0, gpus = 0 }) =>
    [gpus > 0 && say.gpus(gpus), cpus > 0 && say.cpus(number(cpus)), memory_bytes > 0 && bytes(memory_bytes)]
      .filter((part) => part !== false)
      .map((part) => part.replaceAll(' ', HARD_SPACE))
      .join(`${HARD_SPACE}· `) || say.none;
}

type Size = Pick<Schemas['TypeBody'], 'cpus' | 'memory_bytes' | 'gpus' | 'gpu_type'>;

/** The size of one task, in a line: cards first, with their type, since they are what is scarce. */
export function useSize(): (size: Size) => string {
  const say = useWords(words);
  return ({ cpus, memory_bytes, gpus, gpu_type }) =>
    [
      gpus > 0 && (gpu_type ? `${gpus} × ${gpu_type}` : say.gpus(gpus)),
      say.cpus(number(cpus)),
      bytes(memory_bytes),
    ]
      .filter(Boolean)
      .join(' · ');
}
