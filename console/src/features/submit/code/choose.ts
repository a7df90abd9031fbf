import { IGNORE_FILES, ignoreRules, isNeverSent } from './ignore';
import { mayHoldSecrets } from './sensitive';
import type { TarFile } from './tar';

/** What somebody dropped or chose, before the ignore rules. */
export interface Given {
  path: string;
  file: File;
}

/** What will be sent: an archive as it is, or files to pack. */
export interface Chosen {
  label: string;
  archive?: File;
  files: TarFile[];
  sizeBytes: number;
  /** What was not taken because it may hold secrets. */
  leftOut: string[];
}

const ARCHIVE = /\.(zip|tar|tgz|tar\.gz|tar\.bz2|tar\.xz)$/i;

/** Everything below what was dropped; folders keep their paths. */
export async function dropped(data: DataTransfer): Promise<Given[]> {
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return [...data.files].map((file) => ({ path: file.name, file }));
  return (await Promise.all(entries.map((entry) => below(entry, '')))).flat();
}

async function below(entry: FileSystemEntry, base: string): Promise<Given[]> {
  const path = base + entry.name;
  if (entry.isFile) return [{ path, file: await fileOf(entry as FileSystemFileEntry) }];
  // These are never sent, and reading a repository's history or an environment takes minutes.
  if (isNeverSent(entry.name)) return [];
  const inner: Given[] = [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (let batch = await read(reader); batch.length > 0; batch = await read(reader)) {
    for (const child of batch) inner.push(...(await below(child, `${path}/`)));
  }
  return inner;
}

const fileOf = (entry: FileSystemFileEntry) =>
  new Promise<File>((resolve, reject) => {
    entry.file(resolve, reject);
  });

const read = (reader: FileSystemDirectoryReader) =>
  new Promise<FileSystemEntry[]>((resolve, reject) => {
    reader.readEntries(resolve, reject);
  });

/** What a file dialog gave; one for folders tells paths too. */
export function picked(list: FileList): Given[] {
  return [...list].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

/** Choose what to send: one archive goes as it is, one folder as its content, anything else as it lies. */
export async function choose(given: readonly Given[]): Promise<Chosen> {
  const [first] = given;
  if (given.length === 1 && first && !first.path.includes('/') && ARCHIVE.test(first.path)) {
    return { label: first.path, archive: first.file, files: [], sizeBytes: first.file.size, leftOut: [] };
  }
  const top = onlyFolder(given);
  const within = given.map(({ path, file }) => ({ path: path.slice(top.length), file }));
  const { kept, leftOut } = await sorted(within);
  kept.sort((one, other) => (one.path < other.path ? -1 : 1));
  return {
    label: top
      ? top.slice(0, -1)
      : kept
          .map(({ path }) => path)
          .join(', ')
          .slice(0, 60),
    files: kept.map(({ path, file }) => ({ name: path, content: file, changedAt: file.lastModified })),
    sizeBytes: kept.reduce((sum, { file }) => sum + file.size, 0),
    leftOut,
  };
}

function onlyFolder(given: readonly Given[]): string {
  const folder = given[0]?.path.match(/^[^/]+\//)?.[0] ?? '';
  return folder && given.every(({ path }) => path.startsWith(folder)) ? folder : '';
}

async function sorted(given: readonly Given[]): Promise<{ kept: Given[]; leftOut: string[] }> {
  const byPath = new Map(given.map((one) => [one.path, one.file]));
  const bases = new Set(given.map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1)));
  const found = [...bases].flatMap((base) =>
    IGNORE_FILES.flatMap((name) => ({ base, file: byPath.get(base + name) })),
  );
  const rules = await Promise.all(
    found.flatMap(({ base, file }) => (file ? file.text().then((text) => ({ base, text })) : [])),
  );
  const { staysBehind, isAsked } = ignoreRules(rules);
  const kept: Given[] = [];
  const leftOut: string[] = [];
  for (const one of given.filter(({ path }) => !staysBehind(path))) {
    const isSecret = !isAsked(one.path) && (await mayHoldSecrets(one.path, one.file));
    if (isSecret) leftOut.push(one.path);
    else kept.push(one);
  }
  return { kept, leftOut: leftOut.sort() };
}
