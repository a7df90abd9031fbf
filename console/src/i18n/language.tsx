import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { recall, remember } from '@/app/memory';
import { LANGUAGES, type Language, type Translated } from './translated';

const KEY = 'footplate.language';

interface Choice {
  language: Language;
  choose: (language: Language) => void;
}

const LanguageContext = createContext<Choice>({ language: 'en', choose: () => undefined });

function preferred(): Language {
  const kept = recall(KEY);
  if (kept !== null && kept in LANGUAGES) return kept as Language;
  const wanted = navigator.languages.map((tag) => tag.toLowerCase().split('-')[0] ?? '');
  return (wanted.find((tag) => tag in LANGUAGES) as Language | undefined) ?? 'en';
}

/** The language of the console: the one that was chosen, or the first of the browser's that we speak. */
export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(preferred);
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  }, [language]);
  const choice = useMemo<Choice>(
    () => ({
      language,
      choose: (wanted) => {
        remember(KEY, wanted);
        setLanguage(wanted);
      },
    }),
    [language],
  );
  return <LanguageContext.Provider value={choice}>{children}</LanguageContext.Provider>;
}

export const useLanguage = () => useContext(LanguageContext);

/** The words of a feature in the language of the reader. */
export function useWords<Words>(words: Translated<Words>): Words {
  return words[useLanguage().language];
}
