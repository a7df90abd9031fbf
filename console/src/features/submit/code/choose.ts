import type { Given } from '@/ui/dropped';
import { IGNORE_FILES, ignoreRules } from './ignore';
import { mayHoldSecrets } from './sensitive';
import type { TarFile } from './tar';

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
