import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Input, Select, Skeleton, Tooltip } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { waitingQuery } from '@/api/platformQueries';
import { keys, nodesQuery, queuesQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { aheadOf } from '@/ui/ahead';
import { useAmount } from '@/ui/amounts';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Card, Nothing, Page } from '@/ui/Page';
import { QueueBars } from '@/ui/QueueBars';
import { ReasonText } from '@/ui/Reason';
import { mayTouch } from '@/ui/rights';
import { TimeAgo, TimeSince } from '@/ui/time';
import { useTold } from '@/ui/told';
import { useTell } from '@/ui/useTell';
import { isWhole, wholeOf } from '@/ui/WholeItem';
import { words as uiWords } from '@/ui/words';
import styles from './queue.module.css';
import { words } from './words';

type Waiting = Schemas['WaitingBody'];

const route = getRouteApi('/shell/queue');

export function QueuePage() {
  const say = useWords(words);
  const navigate = useNavigate();
  const { queue } = route.useSearch();
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data, error } = useQuery(waitingQuery(queue ?? ''));
  const names = queues.map(({ name }) => name);
  return (
    <Page
      title={say.title}
      actions={
        <Select
          className={styles.filter}
          aria-label={say.queue}
          value={queue ?? ''}
          options={[{ value: '', label: say.all }, ...names.map((value) => ({ value, label: value }))]}
          onChange={(value: string) =>
            void navigate({ to: '/queue', search: { queue: value || undefined }, replace: true })
          }
        />
      }
    >
      {queue && <Share name={queue} />}
      {error && !data && <Failure error={error} />}
      {(data || !error) && (
        <Card
          isFlush
          title={say.order}
          extra={data && <span className="quiet">{count(data, queue, say)}</span>}
        >
          {!data && <Skeleton active className={styles.skeleton} title={false} />}
          {data?.items.length === 0 && (
            <Nothing
              title={say.nothing}
              hint={say.nothingHint}
              action={<Link to="/submit">{say.submit}</Link>}
            />
          )}
          {data && data.items.length > 0 && <Line jobs={data.items} />}
        </Card>
      )}
    </Page>
  );
}

/** What the jobs of one queue hold, beside its share. */
function Share({ name }: { name: string }) {
  const { data: queues = [] } = useQuery(queuesQuery);
  const { data: nodes } = useQuery(nodesQuery);
  const queue = queues.find((one) => one.name === name);
  if (!queue || !nodes) return null;
  return (
    <Card title={queue.name}>
      <div className={styles.bars}>
        <QueueBars queue={queue} nodes={nodes} />
      </div>
    </Card>
  );
}

type Words = (typeof words)['en'];

function count({ items, n_waiting }: Schemas['Waiting'], queue: string | undefined, say: Words): string {
  return say.count(items.length, queue ? items.length : n_waiting);
}

/** The waiting jobs, first to start first. */
function Line({ jobs }: { jobs: readonly Waiting[] }) {
  const say = useWords(words);
  const amount = useAmount();
  const columns: Column<Waiting>[] = [
    {
      key: 'job',
      title: say.job,
      cell: (job) => (
        <div className={styles.job}>
          <div>
            <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={styles.name}>
              {job.name}
            </Link>
            <div className={styles.under}>
              {job.owner} · {job.queue}
              <Ahead job={job} />
            </div>
          </div>
        </div>
      ),
    },
    {
      key: 'asks',
      title: say.asks,
      cell: (job) => <span className={styles.whole}>{amount(job.resources)}</span>,
    },
    { key: 'why', title: say.why, isWide: true, cell: (job) => <Why job={job} /> },
    { key: 'start', title: say.start, cell: (job) => <Start job={job} /> },
    { key: 'since', title: say.waitsSince, cell: (job) => <Since job={job} /> },
    { key: 'priority', title: say.priority, isRight: true, cell: (job) => <Priority job={job} /> },
  ];
  return <DataTable label={say.order} columns={columns} rows={jobs} rowKey={({ id }) => id} />;
}

function Ahead({ job }: { job: Waiting }) {
  const say = useWords(words);
  const n = aheadOf(job);
  if (n === null) return null;
  return (
    <>
      {' · '}
      <span className={styles.whole}>{say.ahead(n)}</span>
    </>
  );
}

const Since = ({ job }: { job: Waiting }) => (
  <span className={styles.whole}>
    <TimeSince at={job.queued_at} />
  </span>
);

/** The reason in a word, and with all its numbers. */
function Why({ job }: { job: Waiting }) {
  const { reasons } = useWords(uiWords);
  return (
    <>
      <div>{reasons[job.reason.code]}</div>
      <div className={styles.under}>
        <ReasonText reason={job.reason} />
      </div>
    </>
  );
}

function Start({ job }: { job: Waiting }) {
  const say = useWords(words);
  const told = useTold();
  const { estimate } = job;
  if (!estimate || (estimate.expected_at === null && estimate.latest_at === null)) {
    return (
      <Tooltip title={estimate && told(estimate.basis)}>
        <span className={`quiet ${styles.whole}`}>{say.noEstimate}</span>
      </Tooltip>
    );
  }
  return (
    <Tooltip title={told(estimate.basis)}>
      <div className={styles.whole}>
        {estimate.expected_at !== null && (
          <div>
            <TimeAgo at={estimate.expected_at} />
          </div>
        )}
        {estimate.latest_at !== null && isLater(estimate) && (
          <div className={styles.under}>
            {say.latest} <TimeAgo at={estimate.latest_at} />
          </div>
        )}
      </div>
    </Tooltip>
  );
}

const WORTH_TELLING_MS = 90_000;

/** Whether the latest start is worth a line beside the expected one. */
function isLater({ expected_at, latest_at }: Schemas['EstimateBody']): boolean {
  if (expected_at === null || latest_at === null) return true;
  return Date.parse(latest_at) - Date.parse(expected_at) > WORTH_TELLING_MS;
}

const MOST_PRIORITY = 1000;

/** The priority; those who may change it do it right here, with Enter or by leaving the field. */
function Priority({ job }: { job: Waiting }) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const { data: me } = useQuery(sessionQuery);
  const [text, setText] = useState<string | null>(null);
  const changing = useMutation({
    mutationFn: (priority: number) =>
      answer(
        api.PATCH('/api/v1/jobs/{job_id}', { params: { path: { job_id: job.id } }, body: { priority } }),
      ),
    onSuccess: (changed) => done(say.changed(changed.name, changed.priority)),
    onError: failed,
    onSettled: async () => {
      await client.invalidateQueries({ queryKey: keys.platform });
      setText(null);
    },
  });
  if (!mayTouch(me, job)) return <span className="number">{job.priority}</span>;
  const isBad = text !== null && !isWhole(wholeOf(text), -MOST_PRIORITY, MOST_PRIORITY);
  const faultId = `fault-${job.id}`;
  const keep = () => {
    if (text === null || isBad || changing.isPending) return;
    if (Number(text) === job.priority) setText(null);
    else changing.mutate(Number(text));
  };
  return (
    <div className={styles.priorityCell}>
      <Tooltip title={isBad ? undefined : say.priorityHint}>
        <Input
          className={styles.priority}
          size="small"
          inputMode="numeric"
          aria-label={say.priorityOf(job.name)}
          aria-invalid={isBad}
          aria-describedby={isBad ? faultId : undefined}
          status={isBad ? 'error' : undefined}
          value={text ?? String(job.priority)}
          onChange={(event) => setText(event.target.value)}
          onPressEnter={keep}
          onBlur={keep}
          onKeyDown={(event) => event.key === 'Escape' && setText(null)}
        />
      </Tooltip>
      {isBad && (
        <div id={faultId} className={styles.fault} role="alert">
          {ui.whole(-MOST_PRIORITY, MOST_PRIORITY)}
        </div>
      )}
    </div>
  );
}
