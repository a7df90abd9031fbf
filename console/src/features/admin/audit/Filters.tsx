import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Input, Select } from 'antd';
import { useState } from 'react';
import { usersQuery } from '@/api/platformQueries';
import { sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import styles from '../admin.module.css';
import type { AuditSearch } from './search';
import { words } from './words';

const route = getRouteApi('/shell/admin/audit');

/** Which entries to show; whatever is chosen goes into the address at once. */
export function Filters() {
  const say = useWords(words);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const narrow = (change: AuditSearch) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  const day = (name: 'since' | 'until', label: string) => (
    <Input
      type="date"
      prefix={<span className="quiet">{say[name]}</span>}
      className={styles.day}
      aria-label={label}
      title={label}
      value={search[name] ?? ''}
      onChange={(event) => narrow({ [name]: event.target.value || undefined })}
    />
  );
  return (
    <search className={styles.filters}>
      <Subject value={search.subject ?? ''} onChange={(subject) => narrow({ subject })} />
      <Select
        className={styles.filter}
        showSearch={{ optionFilterProp: 'label' }}
        aria-label={say.actionFilter}
        value={search.action ?? ''}
        options={[
          { value: '', label: say.anyAction },
          ...Object.entries(say.actions).map(([value, label]) => ({ value, label })),
        ]}
        onChange={(action: string) => narrow({ action: action || undefined })}
      />
      <Actor value={search.actor} onChange={(actor) => narrow({ actor })} />
      {day('since', say.sinceFilter)}
      {day('until', say.untilFilter)}
      {Object.values(search).some(Boolean) && (
        <Button type="link" onClick={() => void navigate({ search: {}, replace: true })}>
          {say.clear}
        </Button>
      )}
    </search>
  );
}

function Actor({ value, onChange }: { value?: string; onChange: (name?: string) => void }) {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data: users = [] } = useQuery({ ...usersQuery, enabled: me?.is_admin === true });
  const names = new Set([...users.map(({ name }) => name), ...(value ? [value] : [])]);
  return (
    <Select
      className={styles.filter}
      showSearch
      aria-label={say.actorFilter}
      value={value ?? ''}
      options={[
        { value: '', label: say.everybody },
        ...[...names].map((name) => ({ value: name, label: name })),
      ]}
      onChange={(name: string) => onChange(name || undefined)}
    />
  );
}

/** Text to look for: taken over with Enter, or by leaving the field. */
function Subject({ value, onChange }: { value: string; onChange: (text?: string) => void }) {
  const say = useWords(words);
  const [typed, setTyped] = useState<string | null>(null);
  const take = (text: string) => {
    setTyped(null);
    if (text.trim() !== value) onChange(text.trim() || undefined);
  };
  return (
    <Input
      allowClear
      className={styles.subject}
      placeholder={say.subjectFilter}
      aria-label={say.subjectFilter}
      maxLength={255}
      value={typed ?? value}
      onChange={(event) => (event.target.value ? setTyped(event.target.value) : take(''))}
      onPressEnter={() => take(typed ?? value)}
      onBlur={() => take(typed ?? value)}
    />
  );
}
