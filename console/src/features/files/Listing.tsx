import {
  FileImageOutlined,
  FileOutlined,
  FileTextOutlined,
  FolderFilled,
  TableOutlined,
} from '@ant-design/icons';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { CheckBox } from '@/ui/CheckBox';
import { TimeAgo } from '@/ui/time';
import styles from './files.module.css';
import type { Entry } from './queries';
import type { FilesSearch } from './routes';
import { words } from './words';

type Shown = Pick<Entry, 'name' | 'path' | 'size_bytes' | 'modified_at'> & {
  kind: string;
  is_link?: boolean;
};

interface Selection {
  chosen: ReadonlySet<string>;
  onChoose: (chosen: ReadonlySet<string>) => void;
}

interface ListingProps<One extends Shown> {
  entries: readonly One[];
  /** Whether they are of the folder before, and the new ones are on their way. */
  isOld?: boolean;
  /** Absent where nothing can be done with several at once. */
  selection?: Selection;
  /** Where a folder, or the preview of a file, is. */
  searchOf: (entry: One) => FilesSearch;
  menuOf: (entry: One) => ReactNode;
}

/** The entries of a folder; on a phone size and time stand below the name. */
export function Listing<One extends Shown>({
  entries,
  isOld,
  selection,
  searchOf,
  menuOf,
}: ListingProps<One>) {
  const say = useWords(words);
  return (
    <table className={styles.table} aria-label={say.title} data-old={isOld}>
      <thead>
        <tr>
          {selection && (
            <th className={styles.check}>
              <ChooseAll entries={entries} {...selection} />
            </th>
          )}
          <th scope="col" className={styles.nameCell}>
            {say.name}
          </th>
          <th scope="col" className={styles.figure}>
            {say.size}
          </th>
          <th scope="col" className={styles.when}>
            {say.changed}
          </th>
          <th scope="col">
            <span className="visually-hidden">{say.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <tr key={entry.path} data-chosen={selection?.chosen.has(entry.path)}>
            {selection && (
              <td className={styles.check}>
                <Choose entry={entry} {...selection} />
              </td>
            )}
            <td className={styles.nameCell}>
              <Name entry={entry} search={searchOf(entry)} />
              <div className={styles.under}>
                <Under entry={entry} />
              </div>
            </td>
            <td className={styles.figure}>{entry.kind === 'file' ? bytes(entry.size_bytes) : ''}</td>
            <td className={styles.when}>{entry.modified_at && <TimeAgo at={entry.modified_at} />}</td>
            <td className={styles.menu}>{menuOf(entry)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function ChooseAll({ entries, chosen, onChoose }: Selection & { entries: readonly Shown[] }) {
  const say = useWords(words);
  const isAll = entries.every(({ path }) => chosen.has(path));
  const isSome = entries.some(({ path }) => chosen.has(path));
  return (
    <CheckBox
      label={say.selectAll}
      isChecked={isAll}
      isMixed={isSome && !isAll}
      onChange={(isIn) => onChoose(new Set(isIn ? entries.map(({ path }) => path) : []))}
    />
  );
}

function Choose({ entry: { name, path }, chosen, onChoose }: Selection & { entry: Shown }) {
  const say = useWords(words);
  const choose = (isIn: boolean) => {
    const next = new Set(chosen);
    if (isIn) next.add(path);
    else next.delete(path);
    onChoose(next);
  };
  return <CheckBox label={say.select(name)} isChecked={chosen.has(path)} onChange={choose} />;
}

function Under({ entry }: { entry: Shown }) {
  return (
    <>
      {entry.kind === 'file' && bytes(entry.size_bytes)}
      {entry.kind === 'file' && entry.modified_at && ' · '}
      {entry.modified_at && <TimeAgo at={entry.modified_at} />}
    </>
  );
}

function Name({ entry, search }: { entry: Shown; search: FilesSearch }) {
  const say = useWords(words);
  const canOpen = entry.kind === 'folder' || entry.kind === 'file';
  return (
    <span className={styles.name}>
      <span className={styles.icon} data-kind={entry.kind}>
        {iconOf(entry)}
      </span>
      {canOpen ? (
        <Link to="/files" search={search} preload={false}>
          {entry.name}
        </Link>
      ) : (
        <span>{entry.name}</span>
      )}
      {entry.is_link && <span className={styles.tag}>{say.link}</span>}
    </span>
  );
}

const ICONS: readonly [RegExp, ReactNode][] = [
  [/\.(png|jpe?g|gif|webp)$/i, <FileImageOutlined aria-hidden key="image" />],
  [/\.(csv|tsv)$/i, <TableOutlined aria-hidden key="table" />],
  [/\.(txt|md|log|py|json|ya?ml|toml|sh|ini|cfg)$/i, <FileTextOutlined aria-hidden key="text" />],
];

function iconOf({ kind, name }: Shown): ReactNode {
  if (kind === 'folder') return <FolderFilled aria-hidden />;
  return ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? <FileOutlined aria-hidden />;
}
