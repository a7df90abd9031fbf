import { useQuery } from '@tanstack/react-query';
import { Button, Radio } from 'antd';
import { useState } from 'react';
import { userQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { LANGUAGES } from '@/i18n/translated';
import { THEMES, useTheme } from '@/theme/theme';
import { Card, Page } from '@/ui/Page';
import { AccessKeysCard } from './AccessKeysCard';
import { EditPerson } from './EditPerson';
import { KeysCard } from './KeysCard';
import { PasswordCard } from './PasswordCard';
import styles from './profile.module.css';
import { TokensCard } from './TokensCard';
import { words } from './words';

export function ProfilePage() {
  const say = useWords(words);
  return (
    <Page title={say.title}>
      <div className={styles.columns}>
        <AccountCard />
        <LooksCard />
        <PasswordCard />
        <TokensCard />
        <KeysCard />
        <AccessKeysCard />
      </div>
    </Page>
  );
}

function AccountCard() {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data: person } = useQuery({ ...userQuery(me?.name ?? ''), enabled: me != null });
  const [isEdited, setEdited] = useState(false);
  if (!me) return null;
  const roles = me.queues.map((queue) => `${queue.name} (${say.roles[queue.role]})`).join(', ');
  return (
    <Card
      title={say.account}
      extra={
        person && (
          <Button size="small" onClick={() => setEdited(true)}>
            {say.edit}
          </Button>
        )
      }
    >
      <dl className={styles.facts}>
        <dt>{say.name}</dt>
        <dd>{me.name}</dd>
        <dt>{say.fullName}</dt>
        <dd>{person?.full_name || '–'}</dd>
        <dt>{say.email}</dt>
        <dd>{person?.email || '–'}</dd>
        <dt>{say.rights}</dt>
        <dd>{me.is_admin ? say.admin : say.person}</dd>
        <dt>{say.queues}</dt>
        <dd>{me.is_admin ? say.allQueues : roles || say.noQueues}</dd>
      </dl>
      {isEdited && person && <EditPerson person={person} onClose={() => setEdited(false)} />}
    </Card>
  );
}

function LooksCard() {
  const say = useWords(words);
  const { language, choose: chooseLanguage } = useLanguage();
  const { wanted, choose: chooseTheme } = useTheme();
  return (
    <Card title={say.looks}>
      <div className={styles.looks}>
        <span id="language">{say.language}</span>
        <Radio.Group
          aria-labelledby="language"
          optionType="button"
          value={language}
          options={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          onChange={(event) => chooseLanguage(event.target.value)}
        />
        <span id="theme">{say.theme}</span>
        <Radio.Group
          aria-labelledby="theme"
          optionType="button"
          value={wanted}
          options={THEMES.map((value) => ({ value, label: say.themes[value] }))}
          onChange={(event) => chooseTheme(event.target.value)}
        />
      </div>
    </Card>
  );
}
