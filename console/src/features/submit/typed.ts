import { type Document, isMap, isScalar, isSeq, type Scalar } from 'yaml';
import type { Field } from './schema';

/**
 * Give every plain word the meaning that its field has for it: `0042`, `1.10` or `null` are texts where a text
 * is meant. The server does the same with the files that it reads.
 */
export function settleWords(parsed: Document, root: Field): void {
  settle(parsed.contents, root);
}

function settle(node: unknown, field: Field | undefined): void {
  if (isScalar(node)) settleWord(node, field);
  else if (isMap(node)) {
    for (const { key, value } of node.items) {
      const inner = field && fieldOf(field, String(isScalar(key) ? key.value : key));
      // A field that is left empty, or said to be null, is one that is not given.
      if (field?.kind !== 'record' || !isScalar(value) || value.value !== null) settle(value, inner);
    }
  } else if (isSeq(node)) {
    for (const item of node.items) settle(item, field?.kind === 'list' ? field.item : undefined);
  }
}

function fieldOf(field: Field, name: string): Field | undefined {
  if (field.kind === 'mapping') return field.values;
  if (field.kind !== 'record') return undefined;
  return Object.hasOwn(field.fields, name) ? field.fields[name] : undefined;
}

function settleWord(node: Scalar, field: Field | undefined): void {
  if (!node.source || node.tag || typeof node.value === 'string') return;
  const isText = field?.kind === 'text';
  const isSame = node.value !== null && String(node.value) === node.source;
  if (isText || (field?.kind === 'scalar' && !isSame)) node.value = node.source;
}
