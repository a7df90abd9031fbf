import type { ReactNode } from 'react';
import { LanguageSwitch, ThemeSwitch } from '@/app/header';
import { useWords } from '@/i18n/language';
import styles from './auth.module.css';
import { words } from './words';

/** What stands on a page for those who are not signed in: the name of the platform, and a box below it. */
export function SignInBox({ children }: { children: ReactNode }) {
  const say = useWords(words);
  return (
    <main className={styles.page}>
      <div className={styles.switches}>
        <LanguageSwitch />
        <ThemeSwitch />
      </div>
      <div className={styles.box}>
        <div className={styles.brand}>
          <img src="/favicon.svg" alt="" width={40} height={40} />
          <h1>Footplate</h1>
          <p className="quiet">{say.intro}</p>
        </div>
        {children}
      </div>
    </main>
  );
}
