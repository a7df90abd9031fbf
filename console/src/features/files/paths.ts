/** Paths on storages: names with slashes between them, none in front. */
export const joined = (folder: string, name: string) => (folder ? `${folder}/${name}` : name);

export const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));

export const nameOf = (path: string) => path.slice(path.lastIndexOf('/') + 1);

export interface Crumb {
  name: string;
  path: string;
}

/** The folders on the way to a path, the outermost first. */
export function crumbsOf(path: string): Crumb[] {
  const parts = path.split('/').filter(Boolean);
  return parts.map((name, index) => ({ name, path: parts.slice(0, index + 1).join('/') }));
}

/** What somebody typed as a path: without slashes at its ends, or doubled ones. */
export const tidy = (typed: string) => typed.split('/').filter(Boolean).join('/');

/** Whether a path is a folder, or lies in it. */
export const isWithin = (path: string, folder: string) =>
  folder === '' || path === folder || path.startsWith(`${folder}/`);

/** The names directly below where something was dropped. */
export const topNames = (paths: readonly string[]) => [
  ...new Set(paths.map((path) => path.split('/', 1)[0] ?? path)),
];
