import type { Mapping } from './document';

/** What a draft is known by that began with files of a storage. */
export function seedOf(data: string | undefined, code: string | undefined): string | undefined {
  if (data === undefined && code === undefined) return undefined;
  return `data=${data ?? ''}&code=${code ?? ''}`;
}

const DATA_FOLDER = '/data';

/** The beginning of a job that uses files of a storage, which are named as `STORAGE/PATH`. */
export function filesOf(data: string | undefined, code: string | undefined): Mapping {
  return { ...(data && { data: [dataAt(data)] }), ...(code && { code: codeAt(code) }) };
}

function split(place: string): [storage: string, path: string] {
  const slash = place.indexOf('/');
  return slash < 0 ? [place, ''] : [place.slice(0, slash), place.slice(slash + 1)];
}

function dataAt(place: string): Mapping {
  const [storage, source] = split(place);
  const name = source.slice(source.lastIndexOf('/') + 1) || storage;
  return { storage, ...(source && { source }), path: `${DATA_FOLDER}/${name}` };
}

function codeAt(place: string): Mapping {
  const [storage, path] = split(place);
  return { storage, ...(path && { path }) };
}
