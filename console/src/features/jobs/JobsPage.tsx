import { DeleteOutlined, PlusOutlined, UnorderedListOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Skeleton } from 'antd';
import { useEffect, useRef, useState } from 'react';
import type { Job } from '@/api/client';
import { jobsQuery, summaryQuery } from '@/api/queries';
import { useLanguage, useWords } from '@/i18n/language';
import { duration, FORMATS } from '@/messages/formats';
import { Failure } from '@/ui/Failure';
import { LinkButton } from '@/ui/LinkButton';
import { Card, Nothing, Page } from '@/ui/Page';
import { Pages } from '@/ui/Pages';
import { PHONE, useMedia } from '@/ui/useMedia';
import { BulkBar } from './BulkBar';
import { shownColumns, useColumns } from './columns';
import { Filters } from './Filters';
import { JobCards } from './JobCards';
import { JobTable } from './JobTable';
import styles from './jobs.module.css';
import { type JobsSearch, PAGE_SIZE } from './search';
import { ColumnChoice, Views } from './Tools';
import { words } from './words';

const route = getRouteApi('/shell/jobs');

export function JobsPage() {
  const say = useWords(words);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const isPhone = useMedia(PHONE);
  const { data, error, dataUpdatedAt, isPlaceholderData } = useQuery(
    jobsQuery({ ...search, limit: PAGE_SIZE }),
  );
  const [columns, chooseColumns] = useColumns();
  const [selected, setSelected] = useSelection(search);
  const jobs = data?.items ?? [];
  const chosen = useKnown(jobs, selected);
  const List = isPhone ? JobCards : JobTable;
  return (
    <Page
      title={search.trash ? say.trashTitle : say.title}
      actions={
        <>
          {!isPhone && <ColumnChoice chosen={columns} onChoose={chooseColumns} />}
          <Views />
          <TrashSwitch isTrash={Boolean(search.trash)} />
        </>
      }
    >
      {search.trash && <TrashHint />}
      <Filters />
      <Card isFlush>
        {chosen.length > 0 && (
          <BulkBar
            jobs={chosen}
            nElsewhere={chosen.filter(({ id }) => !jobs.some((job) => job.id === id)).length}
            isTrash={Boolean(search.trash)}
            onDone={() => setSelected(new Set())}
          />
        )}
        {error && !data && <Failure error={error} />}
        {!data && !error && (
          <Skeleton active className={styles.skeleton} paragraph={{ rows: 8 }} title={false} />
        )}
        {data && jobs.length === 0 && <NoJobs search={search} />}
        {jobs.length > 0 && (
          <div data-old={isPlaceholderData} className={styles.list}>
            <List
              jobs={jobs}
              columns={shownColumns(columns, jobs)}
              asOf={dataUpdatedAt}
              isTrash={Boolean(search.trash)}
              selected={selected}
              onSelect={setSelected}
            />
          </div>
        )}
      </Card>
      <Pages
        after={search.after}
        next={data?.next_page_token ?? null}
        onGo={(after) => void navigate({ search: (now) => ({ ...now, after }) })}
      />
    </Page>
  );
}

/** What is selected, on whichever page it is by now; another filter begins with nothing. */
function useSelection({ after: _page, ...filter }: JobsSearch): [Set<string>, (ids: Set<string>) => void] {
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const shown = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown is the reason to begin anew
  useEffect(() => setSelected(new Set()), [shown]);
  return [selected, setSelected];
}

/** The jobs that are selected, as they were last seen: a live change may have moved some to another page. */
function useKnown(jobs: readonly Job[], selected: ReadonlySet<string>): Job[] {
  const seen = useRef(new Map<string, Job>());
  for (const job of jobs) seen.current.set(job.id, job);
  for (const id of seen.current.keys()) {
    if (!selected.has(id) && !jobs.some((job) => job.id === id)) seen.current.delete(id);
  }
  return [...selected].flatMap((id) => seen.current.get(id) ?? []);
}

/** How long there is to change one's mind. */
function TrashHint() {
  const say = useWords(words);
  const { language } = useLanguage();
  const { data } = useQuery(summaryQuery);
  if (!data) return null;
  return <p className={styles.hint}>{say.trashHint(duration(data.trash_kept_s, FORMATS[language]))}</p>;
}

function TrashSwitch({ isTrash }: { isTrash: boolean }) {
  const say = useWords(words);
  return (
    <>
      <LinkButton
        to="/jobs"
        search={{ trash: isTrash ? undefined : true }}
        icon={isTrash ? <UnorderedListOutlined aria-hidden /> : <DeleteOutlined aria-hidden />}
      >
        {isTrash ? say.toJobs : say.toTrash}
      </LinkButton>
      {!isTrash && (
        <LinkButton to="/submit" color="primary" variant="solid" icon={<PlusOutlined aria-hidden />}>
          {say.submit}
        </LinkButton>
      )}
    </>
  );
}

function NoJobs({ search }: { search: JobsSearch }) {
  const say = useWords(words);
  const { search: text, state, queue, owner, tag } = search;
  if (text || state || queue || owner || tag) {
    return (
      <Nothing
        title={say.noneMatch}
        action={
          <Link to="/jobs" search={{ trash: search.trash }}>
            {say.clear}
          </Link>
        }
      />
    );
  }
  if (search.trash) return <Nothing title={say.noneInTrash} hint={say.noneInTrashHint} />;
  return <Nothing title={say.none} hint={say.noneHint} action={<Link to="/submit">{say.submit}</Link>} />;
}
