import { isMapping, type Json, type Mapping } from './document';
import { OF_A_TYPE } from './layout';
import type { Field, RecordOf } from './schema';

/** A document with the values that the server takes where none is written, plain ones only. */
export function withPresets(doc: Mapping, root: Field): Mapping {
  if (root.kind !== 'record') return doc;
  const { roles } = root.fields;
  const role = roles?.kind === 'list' ? roles.item : undefined;
  const filled = filledIn(doc, root);
  if (role?.kind === 'record' && Array.isArray(doc.roles)) {
    filled.roles = doc.roles.map((one) => (isMapping(one) ? filledIn(one, role) : one));
  }
  return filled;
}

function filledIn(value: Mapping, field: RecordOf): Mapping {
  const filled: Mapping = {};
  for (const [name, { preset }] of Object.entries(field.fields)) {
    if (value.type && OF_A_TYPE.has(name)) continue;
    const isPlain = typeof preset === 'number' || typeof preset === 'boolean';
    if (isPlain || (typeof preset === 'string' && preset !== '')) filled[name] = preset as Json;
  }
  return { ...filled, ...value };
}
