import { Link } from '@tanstack/react-router';
import { useWords } from '@/i18n/language';
import styles from './files.module.css';
import { crumbsOf } from './paths';
import type { FilesSearch } from './routes';
import { words } from './words';

interface Step {
  name: string;
  search: FilesSearch;
}

/** The way to a folder: what it lies in first, then the folders of the path. */
export function Crumbs({ first, path }: { first: readonly Step[]; path: string }) {
  const say = useWords(words);
  const root = first.at(-1)?.search;
  const steps = [
    ...first,
    ...crumbsOf(path).map((one) => ({ name: one.name, search: { ...root, path: one.path } })),
  ];
  return (
    <nav className={styles.crumbs} aria-label={say.way}>
      <ol>
        {steps.map(({ name, search }, index) => (
          <li key={JSON.stringify(search)}>
            {index === steps.length - 1 ? (
              <span aria-current="page">{name}</span>
            ) : (
              <Link to="/files" search={search}>
                {name}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
