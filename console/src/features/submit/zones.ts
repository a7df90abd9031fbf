import { isMapping, type Json, type Mapping } from './document';

const NO_ZONE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$/;

/** A document whose times without a zone have that of the reader's clock; the server would take them for UTC. */
export function inMyZone(doc: Mapping): Mapping {
  const zoned = 'deadline' in doc ? { ...doc, deadline: withZone(doc.deadline) } : doc;
  if (!Array.isArray(zoned.alerts)) return zoned as Mapping;
  const alerts = zoned.alerts.map((alert) =>
    isMapping(alert) && 'at' in alert ? { ...alert, at: withZone(alert.at) } : alert,
  );
  return { ...zoned, alerts } as Mapping;
}

function withZone(moment: Json | undefined): Json {
  if (typeof moment !== 'string' || !NO_ZONE.test(moment)) return moment ?? null;
  // A date alone would be read as midnight in UTC.
  const at = new Date(moment.length === 10 ? `${moment}T00:00` : moment.replace(' ', 'T'));
  return Number.isNaN(at.getTime()) ? moment : at.toISOString();
}
