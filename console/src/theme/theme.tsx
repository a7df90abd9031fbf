import { App, ConfigProvider, theme as design } from 'antd';
import en from 'antd/locale/en_US';
import zh from 'antd/locale/zh_CN';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { recall, remember } from '@/app/memory';
import { useLanguage } from '@/i18n/language';
import { useMedia } from '@/ui/useMedia';
import { DARK, LIGHT, MONOSPACE, SANS } from './palette';

const KEY = 'footplate.theme';
const SYSTEM_DARK = '(prefers-color-scheme: dark)';
export const THEMES = ['system', 'light', 'dark'] as const;
export type ThemeName = (typeof THEMES)[number];

interface Choice {
  wanted: ThemeName;
  isDark: boolean;
  choose: (theme: ThemeName) => void;
}

const ThemeContext = createContext<Choice>({ wanted: 'system', isDark: false, choose: () => undefined });

export const useTheme = () => useContext(ThemeContext);

function preferred(): ThemeName {
  const kept = recall(KEY);
  return THEMES.find((name) => name === kept) ?? 'system';
}

/** Light or dark, by the system unless somebody chose, for our own styles and the components alike. */
export function ThemeProvider({ children }: { children: ReactNode }) {
  const [wanted, setWanted] = useState(preferred);
  const systemDark = useMedia(SYSTEM_DARK);
  const isStill = useMedia('(prefers-reduced-motion: reduce)');
  const { language } = useLanguage();
  const isDark = wanted === 'dark' || (wanted === 'system' && systemDark);
  useEffect(() => {
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  }, [isDark]);
  const choice = useMemo<Choice>(
    () => ({
      wanted,
      isDark,
      choose: (name) => {
        remember(KEY, name);
        setWanted(name);
      },
    }),
    [wanted, isDark],
  );
  return (
    <ThemeContext.Provider value={choice}>
      <ConfigProvider
        locale={language === 'zh' ? zh : en}
        theme={themeOf(isDark, !isStill)}
        button={{ autoInsertSpace: false }}
      >
        {/* Below the header, which stays usable. */}
        <App message={{ top: 64 }} notification={{ top: 64 }}>
          {children}
        </App>
      </ConfigProvider>
    </ThemeContext.Provider>
  );
}

function themeOf(isDark: boolean, motion: boolean) {
  const colors = isDark ? DARK : LIGHT;
  return {
    algorithm: isDark ? design.darkAlgorithm : design.defaultAlgorithm,
    token: {
      ...colors,
      motion,
      fontFamily: SANS,
      fontFamilyCode: MONOSPACE,
      fontSize: 14,
      borderRadius: 8,
      controlHeight: 34,
      wireframe: false,
    },
    components: {
      Tooltip: { colorTextLightSolid: '#f2f5f9', colorBgSpotlight: '#1d2430' },
      // A title above a text is no larger than the page's own.
      Alert: { fontSizeLG: 14, withDescriptionIconSize: 18, withDescriptionPadding: '10px 14px' },
      Table: {
        cellPaddingBlock: 10,
        cellPaddingInline: 12,
        headerBg: 'transparent',
        headerSplitColor: 'transparent',
      },
      Tabs: { horizontalMargin: '0 0 16px 0' },
    },
  };
}
