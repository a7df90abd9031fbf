import { SearchOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Checkbox, Input, Select } from 'antd';
import { useEffect, useRef, useState } from 'react';
import type { JobState } from '@/api/client';
import { jobsQuery, queuesQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { ALL_STATES, JOB_STATES } from '@/ui/jobState';
import { words as uiWords } from '@/ui/words';
import styles from './jobs.module.css';
import { type JobsSearch, PAGE_SIZE } from './search';
import { words } from './words';

const TYPING_MS = 300;
const route = getRouteApi('/shell/jobs');

/** Which jobs to list; whatever is chosen goes into the address at once. */
export function Filters() {
  const say = useWords(words);
  const { states } = useWords(uiWords);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: queues } = useQuery(queuesQuery);
  const { data: me } = useQuery(sessionQuery);
  const narrow = (change: JobsSearch) =>
    void navigate({ search: (now) => ({ ...now, ...change, after: undefined }), replace: true });
  const isMine = me !== undefined && me !== null && search.owner?.join() === me.name;
  const { search: text, state, queue, owner, tag } = search;
  const { data: listed } = useQuery(jobsQuery({ ...search, limit: PAGE_SIZE }));
  const tags = [...new Set(listed?.items.flatMap((job) => job.tags))].sort();
  const isFiltered = Boolean(text || state || queue || owner || tag);
  return (
    <search className={styles.filters} aria-label={say.filters}>
      <SearchField value={text ?? ''} onChange={(wanted) => narrow({ search: wanted || undefined })} />
      {!search.trash && (
        <Select<JobState[]>
          mode="multiple"
          allowClear
          maxTagCount="responsive"
          className={styles.select}
          placeholder={say.state}
          aria-label={say.state}
          value={state ?? []}
          onChange={(wanted) => narrow({ state: wanted.length > 0 ? wanted : undefined })}
          options={ALL_STATES.map((value) => ({ value, label: states[value] }))}
          optionRender={(option) => (
            <>
              {JOB_STATES[option.value as JobState].icon} {option.label}
            </>
          )}
        />
      )}
      <Select<string[]>
        mode="multiple"
        allowClear
        maxTagCount="responsive"
        className={styles.select}
        placeholder={say.queue}
        aria-label={say.queue}
        value={queue ?? []}
        onChange={(wanted) => narrow({ queue: wanted.length > 0 ? wanted : undefined })}
        options={(queues ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
      <Select<string[]>
        mode="tags"
        allowClear
        maxTagCount="responsive"
        className={styles.select}
        placeholder={say.owner}
        aria-label={say.owner}
        value={owner ?? []}
        tokenSeparators={[',', ' ']}
        onChange={(wanted) => narrow({ owner: wanted.length > 0 ? wanted : undefined })}
        options={me ? [{ value: me.name, label: me.name }] : []}
      />
      <Select<string[]>
        mode="tags"
        allowClear
        maxCount={1}
        className={styles.select}
        placeholder={say.tag}
        aria-label={say.tag}
        value={tag ? [tag] : []}
        onChange={(wanted) => narrow({ tag: wanted.at(-1) })}
        options={tags.map((value) => ({ value, label: value }))}
      />
      <Checkbox
        checked={isMine}
        onChange={(event) => narrow({ owner: event.target.checked && me ? [me.name] : undefined })}
      >
        {say.mine}
      </Checkbox>
      {isFiltered && (
        <Button
          type="link"
          onClick={() => void navigate({ search: { trash: search.trash, sort: search.sort } })}
        >
          {say.clear}
        </Button>
      )}
    </search>
  );
}

/** Text to look for: taken over when typing pauses, and renewed when the address changes. */
function SearchField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const say = useWords(words);
  const [text, setText] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (typed: string, waitMs: number) => {
    setText(typed);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(typed.trim()), waitMs);
  };
  return (
    <Input
      allowClear
      className={styles.search}
      prefix={<SearchOutlined aria-hidden />}
      placeholder={say.search}
      aria-label={say.search}
      maxLength={255}
      value={text}
      onChange={(event) => type(event.target.value, TYPING_MS)}
      onPressEnter={() => type(text, 0)}
    />
  );
}
