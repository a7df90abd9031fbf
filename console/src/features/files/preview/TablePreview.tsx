import { useWords } from '@/i18n/language';
import { words } from '../words';
import styles from './preview.module.css';

interface TablePreviewProps {
  rows: readonly (readonly string[])[];
  isCut: boolean;
}

const NUMBER = /^-?[\d.,]+(e[+-]?\d+)?%?$/i;

/** A table; its first row is taken for its head. */
export function TablePreview({ rows, isCut }: TablePreviewProps) {
  const say = useWords(words);
  const [head = [], ...body] = rows;
  return (
    <>
      <section className={styles.scroll} tabIndex={0} aria-label={say.preview}>
        <table className={styles.table}>
          <thead>
            <tr>
              {head.map((cell, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other names
                <th key={column} scope="col">
                  {cell}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {body.map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: nor have rows
              <tr key={index}>
                {row.map((cell, column) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <td key={column} data-number={NUMBER.test(cell)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isCut && <p className="quiet">{say.cutRows(body.length)}</p>}
    </>
  );
}
