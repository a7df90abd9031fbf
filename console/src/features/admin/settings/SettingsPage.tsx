import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import type { Schemas } from '@/api/client';
import { settingsQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';

type Setting = Schemas['SettingBody'];

/** How the server is set up; it is changed in its file. */
export function SettingsPage() {
  const say = useWords(words).settings;
  const { data: me } = useQuery(sessionQuery);
  const { data: settings, error } = useQuery({ ...settingsQuery, enabled: me?.is_admin === true });
  return (
    <AdminOnly title={say.title}>
      <Page title={say.title}>
        {settings && <p className={styles.intro}>{say.intro(settings.file)}</p>}
        {error && !settings && <Failure error={error} />}
        {!settings && !error && (
          <Card>
            <Skeleton active title={false} />
          </Card>
        )}
        {settings && (
          <div className={styles.stack}>
            <Card>
              <dl className={styles.facts}>
                <dt>{say.version}</dt>
                <dd>{settings.version}</dd>
                <dt>{say.url}</dt>
                <dd>{settings.url}</dd>
                <dt>{say.home}</dt>
                <dd>{settings.home}</dd>
                <dt>{say.database}</dt>
                <dd>{settings.database}</dd>
              </dl>
            </Card>
            <Card isFlush>
              <All settings={settings.items} />
            </Card>
          </div>
        )}
      </Page>
    </AdminOnly>
  );
}

/** Every setting, those first that differ from their default. */
function All({ settings }: { settings: readonly Setting[] }) {
  const say = useWords(words).settings;
  const rows = settings.toSorted((one, other) => Number(one.is_default) - Number(other.is_default));
  const columns: Column<Setting>[] = [
    { key: 'name', title: say.name, cell: ({ name }) => <code>{name}</code> },
    {
      key: 'value',
      title: say.value,
      cell: ({ value, is_default }) => (
        <span className={styles.heading}>
          <code className={styles.detail}>{shownValue(value) || say.nothing}</code>
          {!is_default && (
            <span className={styles.tag} data-tone="accent">
              {say.changed}
            </span>
          )}
        </span>
      ),
    },
    // The words of the reference: a setting is looked up there by the same.
    { key: 'help', title: say.help, isWide: true, cell: ({ help }) => <span lang="en">{help}</span> },
  ];
  return <DataTable label={say.title} columns={columns} rows={rows} rowKey={({ name }) => name} />;
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
