import type { Task } from '@/api/client';

/** Whether a task ended badly by itself. */
export function isFailed(task: Task): boolean {
  // A task that was told to end did not fail, whatever its exit code.
  if (task.cause === 'stopped') return false;
  return task.state === 'LOST' || (task.exit_code !== null && task.exit_code !== 0);
}

/** The task that failed first: what came after it was often its fault. */
export function firstFailed(tasks: readonly Task[]): Task | undefined {
  const endOf = ({ finished_at }: Task) =>
    finished_at === null ? Number.POSITIVE_INFINITY : Date.parse(finished_at);
  return tasks.filter(isFailed).sort((one, other) => endOf(one) - endOf(other))[0];
}
