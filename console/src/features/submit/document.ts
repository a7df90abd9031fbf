/** A job document as plain data, and paths into it. Every change makes a new document and leaves the old. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };
export type Mapping = { [name: string]: Json };
export type Path = readonly (string | number)[];

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const part of path) {
    if (Array.isArray(found)) found = typeof part === 'number' ? found[part] : undefined;
    else if (isMapping(found)) found = Object.hasOwn(found, part) ? found[String(part)] : undefined;
    else return undefined;
  }
  return found;
}

/** The document with a value at a path; undefined takes the field away, and an entry out of a list. */
export function withValue(value: Json | undefined, path: Path, wanted: Json | undefined): Json | undefined {
  const [part, ...rest] = path;
  if (part === undefined) return wanted;
  if (typeof part === 'number') return withEntry(value, part, rest, wanted);
  const mapping = isMapping(value) ? value : {};
  const inner = withValue(Object.hasOwn(mapping, part) ? mapping[part] : undefined, rest, wanted);
  if (inner !== undefined) return { ...mapping, [part]: inner };
  const { [part]: _gone, ...others } = mapping;
  return others;
}

function withEntry(value: Json | undefined, index: number, rest: Path, wanted: Json | undefined): Json {
  const list = Array.isArray(value) ? [...value] : [];
  const inner = withValue(list[index], rest, wanted);
  if (inner === undefined) list.splice(index, 1);
  else list[index] = inner;
  return list;
}

/** `roles[0].cpus`, as the server writes paths too. */
export function pathText(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${part}` : part),
    '',
  );
}

export function parsePath(text: string): Path {
  return [...text.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map((found) => (found[1] ? Number(found[1]) : found[0]));
}

export function isSame(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (!isMapping(one) || !isMapping(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}
