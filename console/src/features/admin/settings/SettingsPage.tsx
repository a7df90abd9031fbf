import { useQuery } from '@tanstack/react-query';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import type { Schemas } from '@/api/client';
import { settingsQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { Coded } from '@/ui/Coded';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Page } from '@/ui/Page';
import { AdminOnly } from '../AdminOnly';
import styles from '../admin.module.css';
import { words } from '../words';
import { meaningOf } from './meanings';
import { SettingForm } from './SettingForm';

type Setting = Schemas['SettingBody'];

/** How the server is set up; most is changed in its file, some here. */
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
  const { language } = useLanguage();
  const [edited, setEdited] = useState<Setting | null>(null);
  const rows = settings.toSorted((one, other) => Number(one.is_default) - Number(other.is_default));
  const columns: Column<Setting>[] = [
    { key: 'name', title: say.name, cell: ({ name }) => <code>{name}</code> },
    {
      key: 'value',
      title: say.value,
      cell: ({ value }) => (
        <span className={styles.heading}>
          <code className={styles.detail}>{shownValue(value) || say.nothing}</code>
        </span>
      ),
    },
    {
      key: 'source',
      title: say.source,
      cell: ({ source, is_default }) => <Source of={source} isDefault={is_default} />,
    },
    {
      key: 'help',
      title: say.help,
      isWide: true,
      cell: ({ name, help }) => <Coded text={meaningOf(name, help, language)} />,
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (one) =>
        one.is_live && (
          <Button size="small" aria-label={say.editOf(one.name)} onClick={() => setEdited(one)}>
            {say.edit}
          </Button>
        ),
    },
  ];
  return (
    <>
      <DataTable label={say.title} columns={columns} rows={rows} rowKey={({ name }) => name} />
      {edited && <SettingForm key={edited.name} setting={edited} onClose={() => setEdited(null)} />}
    </>
  );
}

/** Who says what a setting is, and so where it can be changed. */
function Source({ of, isDefault }: { of: string; isDefault: boolean }) {
  const say = useWords(words).settings;
  if (of === 'default') return <span className="quiet">{say.sources.default}</span>;
  const known = {
    file: say.sources.file,
    command_line: say.sources.commandLine,
    console: say.sources.console,
  };
  const text = known[of as keyof typeof known] ?? of;
  return (
    <span className={styles.tag} data-tone={isDefault ? undefined : 'accent'} title={say.sourceHints(of)}>
      {text}
    </span>
  );
}

function shownValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? '' : JSON.stringify(value);
}
