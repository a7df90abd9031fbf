import type { ReactNode } from 'react';
import styles from './datatable.module.css';
import { PHONE, useMedia } from './useMedia';

export interface Column<Row> {
  key: string;
  title: string;
  cell: (row: Row) => ReactNode;
  /** Numbers and buttons stand at the right. */
  isRight?: boolean;
  /** Takes what room is left. */
  isWide?: boolean;
}

interface DataTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  isDimmed?: (row: Row) => boolean;
}

/** Rows in a table; on a phone each row is a card, led by its first column. */
export function DataTable<Row>({ label, columns, rows, rowKey, isDimmed }: DataTableProps<Row>) {
  const isPhone = useMedia(PHONE);
  if (isPhone)
    return <Cards label={label} columns={columns} rows={rows} rowKey={rowKey} isDimmed={isDimmed} />;
  return (
    // What can be scrolled can be reached by keyboard.
    <section className={styles.scroll} tabIndex={0} aria-label={label}>
      <table className={styles.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ key, title, isRight }) => (
              <th key={key} scope="col" data-right={isRight}>
                {title || <span className="visually-hidden">{key}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)} data-dimmed={isDimmed?.(row)}>
              {columns.map(({ key, cell, isRight, isWide }) => (
                <td key={key} data-right={isRight} data-wide={isWide}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cards<Row>({ label, columns, rows, rowKey, isDimmed }: DataTableProps<Row>) {
  const [first, ...rest] = columns;
  return (
    <ul className={styles.cards} aria-label={label}>
      {rows.map((row) => (
        <li key={rowKey(row)} data-dimmed={isDimmed?.(row)}>
          <div className={styles.lead}>{first?.cell(row)}</div>
          <dl>
            {rest
              .map((column) => ({ ...column, content: column.cell(row) }))
              // A label with nothing beside it says nothing.
              .filter(({ content }) => content !== '' && content !== null && content !== undefined)
              .map(({ key, title, content }) => (
                <div key={key}>
                  <dt className={title ? undefined : 'visually-hidden'}>{title || key}</dt>
                  <dd data-bare={!title}>{content}</dd>
                </div>
              ))}
          </dl>
        </li>
      ))}
    </ul>
  );
}
