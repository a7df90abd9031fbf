import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { settingsQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { bytes } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { span } from '@/ui/time';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';

/** How the server is set up; it is changed in its file. */
export function SettingsPage() {
  const say = useWords(words).settings;
  const { language } = useLanguage();
  const { data: me } = useQuery(sessionQuery);
  const { data: settings, error } = useQuery({ ...settingsQuery, enabled: me?.is_admin === true });
  const lines: [string, string][] = settings
    ? [
        [say.version, settings.version],
        [say.url, settings.url],
        [say.home, settings.home],
        [say.database, settings.database],
        [say.logCap, bytes(settings.log_cap_bytes)],
        [say.trash, span(settings.trash_kept_s, language)],
        [say.idle, settings.idle_limit_s === null ? say.never : span(settings.idle_limit_s, language)],
        [say.limits, settings.limits ? say.yes : say.no],
        [say.socket, settings.container_socket ?? say.lookedFor],
        [say.file, settings.file],
      ]
    : [];
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title}>
        {settings && <p className={styles.intro}>{say.intro(settings.file)}</p>}
        {error && !settings && <Failure error={error} />}
        <Card>
          {!settings && !error && <Skeleton active title={false} />}
          {settings && (
            <dl className={styles.facts}>
              {lines.flatMap(([name, value]) => [
                <dt key={name}>{name}</dt>,
                <dd key={`${name}:`}>{value}</dd>,
              ])}
            </dl>
          )}
        </Card>
      </Page>
    </AdminOnly>
  );
}
