import type { Schemas } from '@/api/client';
import { useTold } from './told';

export type Reason = Schemas['ReasonBody'];

/** Why something is as it is; the server's own sentence is there to point at where it differs. */
export function ReasonText({ reason }: { reason: Reason }) {
  const text = useTold()(reason);
  return text === reason.message ? <span>{text}</span> : <span title={reason.message}>{text}</span>;
}
