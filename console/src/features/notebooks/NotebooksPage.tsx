import { PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { keys, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { isFinal, StateTag } from '@/ui/jobState';
import { Card, Nothing, Page } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTold } from '@/ui/told';
import { useTell } from '@/ui/useTell';
import { useOpening } from '../job/inside/opening';
import { NotebookForm } from './NotebookForm';
import styles from './notebooks.module.css';
import { notebooksQuery, samplesQuery } from './queries';
import { words } from './words';

type Notebook = Schemas['JobSummary'];
type Sample = Schemas['Sample'];

/** One's own notebooks, a button for another, and samples. */
export function NotebooksPage() {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data: notebooks, error } = useQuery({ ...notebooksQuery(me?.name ?? ''), enabled: Boolean(me) });
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button type="primary" icon={<PlusOutlined aria-hidden />} onClick={() => setAdding(true)}>
      {say.add}
    </Button>
  );
  return (
    <Page title={say.title} actions={add}>
      <p className={styles.intro}>{say.intro}</p>
      <div className={styles.stack}>
        {error && !notebooks && <Failure error={error} />}
        {(notebooks || !error) && (
          <Card isFlush>
            {!notebooks && <Skeleton active className={styles.skeleton} title={false} />}
            {notebooks?.length === 0 && <Nothing title={say.nothing} hint={say.nothingHint} />}
            {notebooks && notebooks.length > 0 && <List notebooks={notebooks} />}
          </Card>
        )}
        <Gallery />
      </div>
      {isAdding && <NotebookForm onClose={() => setAdding(false)} />}
    </Page>
  );
}

function List({ notebooks }: { notebooks: readonly Notebook[] }) {
  const say = useWords(words);
  const amount = useAmount();
  const columns: Column<Notebook>[] = [
    {
      key: 'name',
      title: say.name,
      isWide: true,
      cell: ({ id, name }) => (
        <Link to="/jobs/$jobId" params={{ jobId: id }}>
          {name}
        </Link>
      ),
    },
    { key: 'state', title: say.state, cell: ({ state }) => <StateTag state={state} /> },
    { key: 'resources', title: say.resources, cell: ({ resources }) => amount(resources) },
    { key: 'submitted', title: say.submitted, cell: ({ submitted_at }) => <TimeAgo at={submitted_at} /> },
    { key: say.actions, title: '', isRight: true, cell: (notebook) => <Actions notebook={notebook} /> },
  ];
  return (
    <DataTable
      label={say.title}
      columns={columns}
      rows={notebooks}
      rowKey={({ id }) => id}
      isDimmed={({ state }) => isFinal(state)}
    />
  );
}

function Actions({ notebook }: { notebook: Notebook }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const opening = useOpening();
  const stopping = useMutation({
    mutationFn: () =>
      answer(api.POST('/api/v1/jobs/{job_id}/stop', { params: { path: { job_id: notebook.id } } })),
    onSuccess: ({ name }) => done(say.stopped(name)),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.jobs }),
  });
  if (isFinal(notebook.state)) return null;
  return (
    <span className={styles.actions}>
      <Button
        type="primary"
        size="small"
        aria-label={say.openOf(notebook.name)}
        disabled={notebook.state !== 'RUNNING'}
        loading={opening.isPending}
        onClick={() => opening.mutate({ job: notebook.id, service: 'jupyter' }, { onError: failed })}
      >
        {say.open}
      </Button>
      <Button
        size="small"
        aria-label={say.stopOf(notebook.name)}
        loading={stopping.isPending}
        onClick={() => stopping.mutate()}
      >
        {say.stop}
      </Button>
    </span>
  );
}

/** What can be copied into a new notebook, or downloaded. */
function Gallery() {
  const say = useWords(words);
  const told = useTold();
  const { data: samples } = useQuery(samplesQuery);
  if (!samples) return null;
  const columns: Column<Sample>[] = [
    { key: 'about', title: say.sample, isWide: true, cell: ({ description }) => told(description) },
    {
      key: say.download,
      title: '',
      isRight: true,
      cell: ({ file }) => (
        <a href={`/api/v1/notebooks/samples/${file}`} download={file} aria-label={say.downloadOf(file)}>
          {say.download}
        </a>
      ),
    },
  ];
  return (
    <Card title={say.gallery} isFlush>
      <DataTable label={say.gallery} columns={columns} rows={samples} rowKey={({ file }) => file} />
    </Card>
  );
}
