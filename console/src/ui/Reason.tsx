import type { ReasonCode, Schemas } from '@/api/client';
import { useLanguage } from '@/i18n/language';
import { type Details, ZH_REASONS } from './zhReasons';

export type Reason = Schemas['ReasonBody'];

/** A reason in Chinese; empty where only the server can put it into words. */
export function zhReason(code: ReasonCode, details: Details): string {
  // A server that is newer than the page may know reasons that the page does not.
  return ZH_REASONS[code]?.(details) ?? '';
}

/** A reason as a sentence of the reader's language; the server's own where there is no other. */
export function useReasonText(): (reason: Reason) => string {
  const { language } = useLanguage();
  return ({ code, details, message }) => (language === 'zh' && zhReason(code, details)) || message;
}

/** Why something is as it is; in Chinese the server's own sentence is there to point at. */
export function ReasonText({ reason }: { reason: Reason }) {
  const text = useReasonText()(reason);
  if (text === reason.message) return <span>{text}</span>;
  return <span title={reason.message}>{text}</span>;
}
