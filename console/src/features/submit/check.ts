import type { Language } from '@/i18n/translated';
import { checkWords } from './checkWords';
import { isMapping, type Json, type Mapping, type Path, pathText } from './document';
import { bytesOf, secondsOf, showSize, showSpan } from './measures';
import { describePattern } from './patterns';
import { hasRoles, SHORT_FIELDS } from './roles';
import { type Field, type RecordOf, shorthandOf } from './schema';

export interface Problem {
  path: string;
  message: string;
  /** Nothing was written where something must be: not worth shouting about before somebody looked there. */
  isMissing: boolean;
  /** What the server calls it. */
  code?: string;
}

/** Everything that a schema has against a document, each thing with the path of its field. */
export function check(doc: Mapping, root: Field, language: Language): Problem[] {
  const checker = new Checker(language);
  checker.check(doc, root, []);
  if (doc.command === undefined && doc.roles === undefined) checker.miss(['command']);
  checker.checkRoles(doc);
  return checker.problems;
}

class Checker {
  readonly problems: Problem[] = [];
  private readonly say;

  constructor(private readonly language: Language) {
    this.say = checkWords[language];
  }

  add(path: Path, message: string): void {
    this.problems.push({ path: pathText(path), message, isMissing: false });
  }

  miss(path: Path): void {
    this.problems.push({ path: pathText(path), message: this.say.needed, isMissing: true });
  }

  check(value: Json, field: Field, path: Path): void {
    if (value === null && field.isNullable) return;
    switch (field.kind) {
      case 'record':
        this.checkRecord(value, field, path);
        return;
      case 'mapping':
        this.checkMapping(value, field, path);
        return;
      case 'list':
        this.checkList(value, field, path);
        return;
      default: {
        const { message, isMissing } = faultOf(value, field, this.language);
        if (isMissing) this.miss(path);
        else if (message) this.add(path, message);
      }
    }
  }

  private checkRecord(value: Json, field: RecordOf, path: Path): void {
    const shorthand = shorthandOf(field);
    if (path[0] === 'code' && typeof value === 'string') {
      this.add(path, this.say.localFolder(value));
      return;
    }
    if (!isMapping(value)) {
      const inner = shorthand && field.fields[shorthand];
      const isShort = typeof value === 'string' || typeof value === 'number';
      if (inner && (isShort || (shorthand === 'requirements' && Array.isArray(value)))) {
        this.check(value, inner, path);
      } else this.add(path, this.say.mustBeMapping);
      return;
    }
    for (const [name, inner] of Object.entries(value)) {
      const known = Object.hasOwn(field.fields, name) ? field.fields[name] : undefined;
      if (known) this.check(inner, known, [...path, name]);
      else this.add([...path, name], this.say.unknown(name));
    }
    for (const name of field.required) if (!(name in value)) this.miss([...path, name]);
  }

  private checkMapping(value: Json, field: Field & { kind: 'mapping' }, path: Path): void {
    if (!isMapping(value)) {
      this.add(path, this.say.mustBeMapping);
      return;
    }
    const names = Object.keys(value);
    if (names.length > field.most) this.add(path, this.say.tooMany(field.most, names.length));
    for (const name of names) {
      const { pattern, most } = field.names;
      if (name.length > most || (pattern && !matches(pattern, name))) {
        this.add([...path, name], this.say.badName(name, describePattern(pattern, this.language)));
      }
      this.check(value[name] as Json, field.values, [...path, name]);
    }
  }

  private checkList(value: Json, field: Field & { kind: 'list' }, path: Path): void {
    if (!Array.isArray(value)) {
      this.add(path, this.say.mustBeList);
      return;
    }
    if (value.length > field.most) this.add(path, this.say.tooMany(field.most, value.length));
    if (value.length < field.least) this.add(path, this.say.tooFew(field.least));
    value.forEach((item, index) => {
      this.check(item, field.item, [...path, index]);
    });
  }

  /** What the schema cannot say about roles. */
  checkRoles(doc: Mapping): void {
    if (!hasRoles(doc)) return;
    for (const name of SHORT_FIELDS) if (name in doc) this.add([name], this.say.mixed(name));
    const seen = new Set<string>();
    doc.roles.forEach((role, index) => {
      const name = isMapping(role) && typeof role.name === 'string' ? role.name : 'main';
      if (seen.has(name)) this.add(['roles', index, 'name'], this.say.twice(name));
      seen.add(name);
    });
  }
}

interface Fault {
  message?: string;
  isMissing?: boolean;
}

const FINE: Fault = {};
const SHOW: Record<'integer' | 'number' | 'size' | 'duration', (value: number) => string> = {
  integer: String,
  number: String,
  size: showSize,
  duration: showSpan,
};

/** What is wrong with one plain value. */
export function faultOf(value: Json, field: Field, language: Language): Fault {
  const say = checkWords[language];
  switch (field.kind) {
    case 'text':
      return textFault(value, field, language);
    case 'integer':
      return Number.isInteger(value) ? rangeFault(value as number, field, say) : { message: say.mustBeWhole };
    case 'number':
      return isNumeric(value) ? rangeFault(Number(value), field, say) : { message: say.mustBeNumber };
    case 'size':
      return measureFault(value, bytesOf, say.mustBeSize, field, say);
    case 'duration':
      return measureFault(value, secondsOf, say.mustBeSpan, field, say);
    case 'choice':
      if (typeof value === 'string' && field.options.includes(value)) return FINE;
      return { message: say.choice(field.options.join(', ')) };
    case 'instant':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? FINE
        : { message: say.mustBeInstant };
    case 'flag':
      return typeof value === 'boolean' ? FINE : { message: say.mustBeFlag };
    case 'scalar':
      return ['string', 'number', 'boolean'].includes(typeof value) ? FINE : { message: say.mustBeScalar };
    default:
      return FINE;
  }
}

const isNumeric = (value: Json) =>
  typeof value === 'number' || (typeof value === 'string' && /^\d{1,9}(\.\d{1,9})?$/.test(value));

function textFault(value: Json, field: Field & { kind: 'text' }, language: Language): Fault {
  const say = checkWords[language];
  if (typeof value === 'number' && !field.pattern) return FINE;
  if (typeof value !== 'string') return { message: say.mustBeText };
  if (value.trim().length < field.least) return { isMissing: true };
  if (value.length > field.most) return { message: say.tooLong(field.most, value.length) };
  if (field.pattern && !matches(field.pattern, value)) {
    return { message: say.form(describePattern(field.pattern, language)) };
  }
  return FINE;
}

type Bounded = Field & { kind: 'integer' | 'number' | 'size' | 'duration' };
type Words = (typeof checkWords)['en'];

function rangeFault(value: number, field: Bounded, say: Words): Fault {
  const show = SHOW[field.kind];
  if (value >= field.least && value <= field.most) return FINE;
  return { message: say.range(show(field.least), show(field.most)) };
}

function measureFault(
  value: Json,
  read: (text: string) => number | undefined,
  otherwise: string,
  field: Bounded,
  say: Words,
): Fault {
  const amount = typeof value === 'string' ? read(value) : typeof value === 'number' ? value : undefined;
  return amount === undefined ? { message: otherwise } : rangeFault(amount, field, say);
}

const compiled = new Map<string, RegExp>();

function matches(pattern: string, text: string): boolean {
  let expression = compiled.get(pattern);
  if (!expression) {
    expression = new RegExp(pattern, 'u');
    compiled.set(pattern, expression);
  }
  return expression.test(text);
}

/** The bounds of a field in a line, for its help. */
export function boundsOf(field: Field, language: Language): string {
  const say = checkWords[language];
  const { bounds } = say;
  switch (field.kind) {
    case 'integer':
      return [bounds.whole, bounds.range(String(field.least), String(field.most))].join(bounds.comma);
    case 'number':
      return [bounds.number, bounds.range(String(field.least), String(field.most))].join(bounds.comma);
    case 'size':
      return [bounds.size, bounds.range(showSize(field.least), showSize(field.most))].join(bounds.semicolon);
    case 'duration':
      return [bounds.span, bounds.range(showSpan(field.least), showSpan(field.most))].join(bounds.semicolon);
    case 'text': {
      const form = field.pattern && describePattern(field.pattern, language);
      return [form, Number.isFinite(field.most) && bounds.most(field.most)]
        .filter(Boolean)
        .join(bounds.semicolon);
    }
    case 'list':
    case 'mapping':
      return Number.isFinite(field.most) ? bounds.entries(field.most) : '';
    case 'choice':
      return field.options.length > 12 ? '' : field.options.join(bounds.comma);
    case 'instant':
      return bounds.instant;
    default:
      return '';
  }
}
