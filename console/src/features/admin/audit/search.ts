import { textOf } from '@/app/search';

/** What the trail shows, all of it in the address; days are those of the reader. */
export interface AuditSearch {
  actor?: string;
  action?: string;
  subject?: string;
  since?: string;
  until?: string;
}

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;

const dayOf = (given: unknown) => {
  const text = textOf(given);
  return text && DAY.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
};

export function readAuditSearch(given: Record<string, unknown>): AuditSearch {
  return {
    actor: textOf(given.actor),
    action: textOf(given.action),
    subject: textOf(given.subject),
    since: dayOf(given.since),
    until: dayOf(given.until),
  };
}

/** The same as the server is asked: from the first moment of a day, to the last of another. */
export function auditFilter({ since, until, ...rest }: AuditSearch) {
  const begin = (day: string) => new Date(`${day}T00:00:00`);
  return {
    ...rest,
    since: since && begin(since).toISOString(),
    // A day may have 23 or 25 hours: noon of the next one is surely in it.
    until: until && startOfDay(new Date(begin(until).getTime() + 1.5 * DAY_MS)).toISOString(),
  };
}

const startOfDay = (at: Date) => new Date(at.setHours(0, 0, 0, 0));
