import { type Document, isScalar, LineCounter, parseDocument, stringify, visit } from 'yaml';
import { isMapping, isSame, type Json, type Mapping, type Path } from './document';
import { type Foreign, formatOf, isBatchScript } from './foreign';
import type { Field } from './schema';
import { settleWords } from './typed';

export type Format = 'yaml' | 'json';

/** What keeps a text from being a document, and where. */
export interface TextFault {
  line: number;
  /** A code of the YAML reader where we have words of our own for it. */
  code: string;
  message: string;
  /** The system whose job file it is. */
  foreign?: Foreign;
}

export type Reading = { doc: Mapping; fault?: undefined } | { doc?: undefined; fault: TextFault };

const OPTIONS = { merge: true, stringKeys: true };

const fault = (line: number, code: string, message = ''): Reading => ({ fault: { line, code, message } });

const ofOthers = (foreign: Foreign): Reading => ({
  fault: { line: 1, code: 'FOREIGN', message: '', foreign },
});

/** Read a job file; JSON is read strictly where the format says so. Words mean what the fields of `root` say. */
export function readText(text: string, format: Format, root?: Field): Reading {
  if (isBatchScript(text)) return ofOthers('sbatch');
  const lines = new LineCounter();
  const parsed = parseDocument(text, { ...OPTIONS, prettyErrors: false, lineCounter: lines });
  const [error] = parsed.errors;
  const lineOf = (offset: number) => lines.linePos(Math.min(offset, text.length)).line;
  // First, so that what is wrong with JSON is not told in words of YAML.
  if (format === 'json' && text.trim() !== '') {
    const strict = strictFault(text, lineOf, error?.pos[0]);
    if (strict) return { fault: strict };
  }
  if (error) return fault(lineOf(error.pos[0]), error.code, error.message);
  if (root) settleWords(parsed, root);
  const number = settleNumbers(parsed);
  if (number !== undefined) return fault(lineOf(number), 'NOT_FINITE');
  try {
    const value = parsed.toJS({ maxAliasCount: 100 }) as Json;
    if (value === null) return { doc: {} };
    if (!isMapping(value)) return fault(1, 'NO_MAPPING');
    const foreign = formatOf(value);
    return foreign ? ofOthers(foreign) : { doc: value };
  } catch (thrown) {
    return fault(1, 'ALIAS', thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function strictFault(
  text: string,
  lineOf: (offset: number) => number,
  guess = text.length,
): TextFault | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    const position = /position (\d+)/.exec(message)?.[1];
    return { line: lineOf(position ? Number(position) : guess), code: 'NO_JSON', message };
  }
}

/**
 * Keep whole numbers that a browser cannot hold exactly as the digits that were written; say where a number
 * is that cannot be kept at all.
 */
function settleNumbers(parsed: Document): number | undefined {
  let bad: number | undefined;
  visit(parsed, {
    Scalar(_key, node) {
      if (typeof node.value !== 'number') return undefined;
      if (!Number.isFinite(node.value)) {
        bad = node.range?.[0] ?? 0;
        return visit.BREAK;
      }
      if (Number.isInteger(node.value) && !Number.isSafeInteger(node.value) && isScalar(node)) {
        node.value = node.source ?? String(node.value);
      }
      return undefined;
    },
  });
  return bad;
}

export function writeText(doc: Mapping, format: Format, order: readonly string[] = []): string {
  const sorted = inOrder(doc, order);
  if (format === 'json') return `${JSON.stringify(sorted, null, 2)}\n`;
  return Object.keys(sorted).length === 0 ? '' : stringify(sorted, { lineWidth: 0 });
}

/** The fields of a document in the order of the job file; what the order does not know comes last. */
export function inOrder(doc: Mapping, order: readonly string[]): Mapping {
  const place = (name: string) => {
    const index = order.indexOf(name);
    return index < 0 ? order.length : index;
  };
  return Object.fromEntries(Object.entries(doc).sort(([one], [other]) => place(one) - place(other)));
}

/** Whether a YAML text has comments, which no other form of it can keep. */
export function hasComments(text: string): boolean {
  const parsed = parseDocument(text);
  let found = Boolean(parsed.comment || parsed.commentBefore);
  visit(parsed, {
    Node(_key, node) {
      if (!node.comment && !node.commentBefore) return undefined;
      found = true;
      return visit.BREAK;
    },
  });
  return found;
}

/** Change a value within a YAML text and keep its comments; undefined when only a rewrite can do it. */
export function patchText(
  text: string,
  path: Path,
  value: Json | undefined,
  wanted: Mapping,
  root?: Field,
): string | undefined {
  if (!/(^|\s)#/.test(text)) return undefined;
  try {
    const parsed = parseDocument(text, OPTIONS);
    // What is no number to us would be written as one.
    if (root) settleWords(parsed, root);
    if (value === undefined) parsed.deleteIn(path);
    else parsed.setIn(path, parsed.createNode(value));
    const patched = parsed.toString({ lineWidth: 0 });
    const read = readText(patched, 'yaml', root);
    return read.doc && isSame(read.doc, wanted) ? patched : undefined;
  } catch {
    return undefined;
  }
}
