/** The parts of JSON Schema that the server's job schema is made of. */
export interface Schema {
  type?: string | string[];
  description?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | false;
  propertyNames?: Schema;
  items?: Schema;
  anyOf?: Schema[];
  enum?: string[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
}

interface Text {
  kind: 'text';
  least: number;
  most: number;
  pattern: string;
}
interface Amount {
  kind: 'integer' | 'number' | 'size' | 'duration';
  least: number;
  most: number;
}
interface Choice {
  kind: 'choice';
  options: string[];
}
interface List {
  kind: 'list';
  item: Field;
  least: number;
  most: number;
}
interface Table {
  kind: 'mapping';
  names: Text;
  values: Field;
  most: number;
}
export interface RecordOf {
  kind: 'record';
  fields: Record<string, Field>;
  required: string[];
}
interface Plain {
  kind: 'flag' | 'instant' | 'scalar' | 'any';
}

/** A field as the form sees it: what it holds, within which bounds, and what it means. */
export type Field = (Text | Amount | Choice | List | Table | RecordOf | Plain) & {
  help: string;
  preset: unknown;
  isNullable: boolean;
};

const ENDLESS = Number.POSITIVE_INFINITY;

export function readSchema(schema: Schema): Field {
  const options = schema.anyOf?.filter((option) => option.type !== 'null');
  const isNullable = Boolean(schema.anyOf && options && options.length < schema.anyOf.length);
  const bare =
    isNullable && options?.length === 1 ? { ...options[0], description: schema.description } : schema;
  const {
    help: _help,
    preset: _preset,
    isNullable: _nullable,
    ...read
  } = isNullable ? readSchema(bare) : { ...readKind(schema), help: '', preset: undefined, isNullable };
  return {
    ...read,
    help: (schema.description ?? '').replace(/ \(A job of one role\.\)$/, ''),
    preset: schema.default,
    isNullable,
  } as Field;
}

function readKind(schema: Schema): Text | Amount | Choice | List | Table | RecordOf | Plain {
  const { type } = schema;
  if (schema.properties) return readRecord(schema);
  if (type === 'object') {
    const names = readText(schema.propertyNames ?? {});
    const values = readSchema(schema.additionalProperties || {});
    return { kind: 'mapping', names, values, most: schema.maxProperties ?? ENDLESS };
  }
  if (type === 'array') {
    const { minItems = 0, maxItems = ENDLESS } = schema;
    return { kind: 'list', item: readSchema(schema.items ?? {}), least: minItems, most: maxItems };
  }
  if (schema.anyOf) return readMeasure(schema.anyOf);
  if (schema.enum) return { kind: 'choice', options: schema.enum };
  if (schema.format === 'date-time') return { kind: 'instant' };
  if (type === 'boolean') return { kind: 'flag' };
  if (type === 'integer' || type === 'number') {
    return { kind: type, least: schema.minimum ?? -ENDLESS, most: schema.maximum ?? ENDLESS };
  }
  if (type === 'string') return readText(schema);
  return { kind: Array.isArray(type) ? 'scalar' : 'any' };
}

function readRecord(schema: Schema): RecordOf {
  const entries = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, readSchema(inner)]);
  return { kind: 'record', fields: Object.fromEntries(entries), required: schema.required ?? [] };
}

function readText(schema: Schema): Text {
  const { minLength = 0, maxLength = ENDLESS, pattern = '' } = schema;
  return { kind: 'text', least: minLength, most: maxLength, pattern };
}

/** An amount with a unit: written as a text, or as a number of its smallest unit, which has the bounds. */
function readMeasure(options: readonly Schema[]): Amount | Plain {
  const written = options.find((option) => option.type === 'string');
  const counted = options.find((option) => option.type === 'integer');
  if (!written?.pattern || !counted) return { kind: 'any' };
  const kind = written.pattern.includes('KMGT') ? 'size' : 'duration';
  return { kind, least: counted.minimum ?? 0, most: counted.maximum ?? ENDLESS };
}

/** The field behind a path of a document; undefined for what the schema does not know. */
export function fieldAt(root: Field, path: readonly (string | number)[]): Field | undefined {
  let field: Field | undefined = root;
  for (const part of path) {
    if (field?.kind === 'list') field = field.item;
    else if (field?.kind === 'mapping') field = field.values;
    else if (field?.kind === 'record')
      field = Object.hasOwn(field.fields, part) ? field.fields[part] : undefined;
    else return undefined;
  }
  return field;
}

/** The field that a bare text stands for, where the server reads one in place of a mapping. */
export function shorthandOf(field: RecordOf): string | undefined {
  if (field.required.length === 1) return field.required[0];
  return ['requirements', 'path'].find((name) => name in field.fields);
}
