import {
  ApiOutlined,
  DesktopOutlined,
  GlobalOutlined,
  LogoutOutlined,
  MoonOutlined,
  SearchOutlined,
  SunOutlined,
  UserOutlined,
} from '@ant-design/icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Input, type InputRef, Tooltip } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { abandonCalls, answer, api, sessionKey } from '@/api/client';
import { keys, sessionQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { LANGUAGES, type Language } from '@/i18n/translated';
import { THEMES, type ThemeName, useTheme } from '@/theme/theme';
import { MenuButton } from '@/ui/MenuButton';
import { useTell } from '@/ui/useTell';
import styles from './shell.module.css';
import { words } from './words';

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Finds jobs from anywhere; `/` leads here. */
export function SearchBox() {
  const say = useWords(words);
  const navigate = useNavigate();
  const box = useRef<InputRef>(null);
  const [text, setText] = useState('');
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      event.preventDefault();
      box.current?.focus({ cursor: 'all' });
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, []);
  return (
    <Input
      ref={box}
      className={styles.search}
      prefix={<SearchOutlined aria-hidden />}
      suffix={<kbd className={styles.kbd}>/</kbd>}
      placeholder={say.search}
      aria-label={say.search}
      title={say.searchHint}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onPressEnter={() => {
        void navigate({ to: '/jobs', search: { search: text.trim() || undefined } });
        box.current?.blur();
      }}
    />
  );
}

export function LiveSign({ isLive }: { isLive: boolean }) {
  const say = useWords(words);
  return (
    <Tooltip title={isLive ? say.liveHint : say.notLiveHint}>
      <output className={styles.live} data-live={isLive}>
        {isLive ? say.live : say.notLive}
      </output>
    </Tooltip>
  );
}

export function LanguageSwitch() {
  const say = useWords(words);
  const { language, choose } = useLanguage();
  const items = Object.entries(LANGUAGES).map(([key, label]) => ({
    key,
    label,
    onClick: () => choose(key as Language),
  }));
  return (
    <MenuButton
      items={items}
      selectedKeys={[language]}
      type="text"
      icon={<GlobalOutlined aria-hidden />}
      aria-label={`${say.language}: ${LANGUAGES[language]}`}
    >
      <span className={styles.wide}>{LANGUAGES[language]}</span>
    </MenuButton>
  );
}

const THEME_ICONS: Record<ThemeName, React.ReactNode> = {
  system: <DesktopOutlined aria-hidden />,
  light: <SunOutlined aria-hidden />,
  dark: <MoonOutlined aria-hidden />,
};

export function ThemeSwitch() {
  const say = useWords(words);
  const { wanted, isDark, choose } = useTheme();
  const items = THEMES.map((key) => ({
    key,
    label: say.themes[key],
    icon: THEME_ICONS[key],
    onClick: () => choose(key),
  }));
  return (
    <MenuButton
      items={items}
      selectedKeys={[wanted]}
      type="text"
      icon={THEME_ICONS[isDark ? 'dark' : 'light']}
      aria-label={`${say.theme}: ${say.themes[wanted]}`}
    />
  );
}

export function UserMenu() {
  const say = useWords(words);
  const tell = useTell();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { data: user } = useQuery(sessionQuery);
  const leave = async () => {
    const headers = sessionKey.headers();
    sessionKey.drop();
    // What is under way would be refused from here on.
    abandonCalls();
    client.setQueryData(keys.session, null);
    // It goes its way also when somebody closes the page now.
    const ended = answer(api.DELETE('/api/v1/session', { headers, keepalive: true })).catch(tell.failed);
    await navigate({ to: '/sign-in' });
    client.removeQueries({ predicate: (query) => query.queryKey[0] !== keys.session[0] });
    await ended;
  };
  const name = user?.name ?? '';
  const items = [
    {
      key: 'profile',
      label: say.profile,
      icon: <UserOutlined aria-hidden />,
      onClick: () => void navigate({ to: '/profile' }),
    },
    {
      key: 'api',
      label: say.apiReference,
      icon: <ApiOutlined aria-hidden />,
      onClick: () => void window.open('/docs', '_blank', 'noopener'),
    },
    { key: 'leave', label: say.signOut, icon: <LogoutOutlined aria-hidden />, onClick: () => void leave() },
  ];
  return (
    <MenuButton items={items} type="text" icon={<UserOutlined aria-hidden />} aria-label={say.account(name)}>
      <span className={styles.wide}>{name}</span>
    </MenuButton>
  );
}
