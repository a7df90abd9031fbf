import type { ReactNode } from 'react';
import { useEffect } from 'react';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** What stands at the right of the title: buttons. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with a title, which the browser's tab shows too. */
export function Page({ title, actions, children }: PageProps) {
  useTabTitle(title);
  return (
    <>
      <div className={styles.head}>
        <h1 className={styles.title}>{title}</h1>
        <div className={styles.actions}>{actions}</div>
      </div>
      {children}
    </>
  );
}

export function useTabTitle(title: string) {
  useEffect(() => {
    document.title = `${title} · Footplate`;
  }, [title]);
}

interface CardProps {
  title?: ReactNode;
  extra?: ReactNode;
  children: ReactNode;
  isFlush?: boolean;
}

/** A box on a page; flush when what it holds goes to its edges, as tables do. */
export function Card({ title, extra, children, isFlush = false }: CardProps) {
  return (
    <section className={styles.card}>
      {title !== undefined && (
        <div className={styles.cardHead}>
          <h2>{title}</h2>
          {extra}
        </div>
      )}
      <div className={isFlush ? undefined : styles.cardBody}>{children}</div>
    </section>
  );
}

interface NothingProps {
  title: string;
  hint?: ReactNode;
  action?: ReactNode;
}

/** What stands where nothing is: why, and what to do. */
export function Nothing({ title, hint, action }: NothingProps) {
  return (
    <div className={styles.nothing}>
      <div className={styles.nothingTitle}>{title}</div>
      {hint !== undefined && <div className="quiet">{hint}</div>}
      {action}
    </div>
  );
}
