import type { Me } from '@/api/client';

interface Owned {
  owner: string;
  queue: string;
}

const roleIn = (me: Me, queue: string) => me.queues.find(({ name }) => name === queue)?.role;

/** Whether somebody may submit jobs to a queue. */
export function maySubmit(me: Me | null | undefined, queue: string): boolean {
  if (!me) return false;
  const role = roleIn(me, queue);
  return me.is_admin || role === 'admin' || role === 'member';
}

/** Whether somebody may change a job: as the admin of its queue, or as its owner who may still submit there. */
export function mayTouch(me: Me | null | undefined, { owner, queue }: Owned): boolean {
  if (!me) return false;
  if (me.is_admin || roleIn(me, queue) === 'admin') return true;
  return owner === me.name && maySubmit(me, queue);
}

/** Whether somebody may fetch the files of a job; viewers of its queue may only look. */
export function mayFetch(
  me: Me | null | undefined,
  { owner, queue, is_readable }: Owned & { is_readable: boolean },
): boolean {
  return is_readable && (me?.name === owner || maySubmit(me, queue));
}
