/** A file that somebody dropped or chose, with its path below what was dropped. */
export interface Given {
  path: string;
  file: File;
}

type Skips = (folder: string) => boolean;

/** Everything below what was dropped; folders keep their paths, and some are not looked into. */
export async function dropped(data: DataTransfer, skips: Skips = () => false): Promise<Given[]> {
  const entries = [...data.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  if (entries.length === 0) return [...data.files].map((file) => ({ path: file.name, file }));
  return (await Promise.all(entries.map((entry) => below(entry, '', skips)))).flat();
}

async function below(entry: FileSystemEntry, base: string, skips: Skips): Promise<Given[]> {
  const path = base + entry.name;
  if (entry.isFile) return [{ path, file: await fileOf(entry as FileSystemFileEntry) }];
  if (skips(entry.name)) return [];
  const inner: Given[] = [];
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  for (let batch = await read(reader); batch.length > 0; batch = await read(reader)) {
    for (const child of batch) inner.push(...(await below(child, `${path}/`, skips)));
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
