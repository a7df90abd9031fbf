import { MenuOutlined } from '@ant-design/icons';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useRouter } from '@tanstack/react-router';
import { Button, Drawer, Empty } from 'antd';
import { useEffect, useState } from 'react';
import { onSignedOut, sessionKey } from '@/api/client';
import { useLiveFeed } from '@/api/live';
import { keys, sessionQuery, versionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { LanguageSwitch, LiveSign, SearchBox, ThemeSwitch, UserMenu } from './header';
import { NAVIGATION } from './navigation';
import styles from './shell.module.css';
import { words } from './words';

/** What surrounds every page: navigation at the left, search and settings above. */
export function Shell() {
  const say = useWords(words);
  const isLive = useLiveFeed();
  const [isOpen, setOpen] = useState(false);
  useLeaveWhenSignedOut();
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#content">
        {say.skip}
      </a>
      <aside className={styles.side}>
        <Brand />
        <Navigation />
        <Version />
      </aside>
      <Drawer open={isOpen} onClose={() => setOpen(false)} placement="left" size={264} title={<Brand />}>
        <Navigation onGo={() => setOpen(false)} />
      </Drawer>
      <header className={styles.header}>
        <Button
          className={styles.menuButton}
          type="text"
          icon={<MenuOutlined aria-hidden />}
          aria-label={say.openNavigation}
          onClick={() => setOpen(true)}
        />
        <SearchBox />
        <div className={styles.tools}>
          <LiveSign isLive={isLive} />
          <LanguageSwitch />
          <ThemeSwitch />
          <UserMenu />
        </div>
      </header>
      <main id="content" className={styles.content} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

function useLeaveWhenSignedOut() {
  const client = useQueryClient();
  const router = useRouter();
  useEffect(
    () =>
      onSignedOut(() => {
        sessionKey.drop();
        client.setQueryData(keys.session, null);
        void router.navigate({ to: '/sign-in', search: { next: router.state.location.href, ended: true } });
      }),
    [client, router],
  );
}

function Brand() {
  return (
    <Link to="/" className={styles.brand}>
      <img src="/favicon.svg" alt="" width={26} height={26} />
      Footplate
    </Link>
  );
}

function Navigation({ onGo }: { onGo?: () => void }) {
  const say = useWords(words);
  const { data: user } = useQuery(sessionQuery);
  const sections = NAVIGATION.map(({ title, entries }) => ({
    title,
    entries: entries.filter(({ isFor }) => !isFor || (user && isFor(user))),
  })).filter(({ entries }) => entries.length > 0);
  return (
    <nav aria-label={say.navigation} className={styles.navigation}>
      {sections.map((section) => (
        <div key={section.title(say)}>
          {sections.length > 1 && <h2 className={styles.sectionTitle}>{section.title(say)}</h2>}
          <ul>
            {section.entries.map((entry) => (
              <li key={entry.to}>
                <Link
                  to={entry.to}
                  onClick={onGo}
                  className={styles.entry}
                  activeOptions={{ exact: entry.to === '/', includeSearch: false }}
                  activeProps={{ 'data-active': true }}
                >
                  {entry.icon}
                  {entry.label(say)}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

function Version() {
  const { data } = useQuery(versionQuery);
  return <div className={styles.version}>{data && `Footplate ${data.version}`}</div>;
}

export function NowhereToBeFound() {
  const say = useWords(words);
  return (
    <div className={styles.middle}>
      <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={null}>
        <h1>{say.nowhere}</h1>
        <p className="quiet">{say.nowhereHint}</p>
        <Link to="/">{say.backHome}</Link>
      </Empty>
    </div>
  );
}
