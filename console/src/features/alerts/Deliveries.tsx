import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button, Skeleton } from 'antd';
import { answer, api, type Schemas } from '@/api/client';
import { deliveriesQuery } from '@/api/platformQueries';
import { useWords } from '@/i18n/language';
import { type Column, DataTable } from '@/ui/DataTable';
import { Failure } from '@/ui/Failure';
import { Nothing } from '@/ui/Page';
import { TimeAgo } from '@/ui/time';
import { useTold } from '@/ui/told';
import { useTell } from '@/ui/useTell';
import styles from './alerts.module.css';
import { words } from './words';

type Delivery = Schemas['DeliveryBody'];

/** What was told, and what became of it. */
export function Deliveries({ channels }: { channels: readonly Schemas['ChannelBody'][] }) {
  const say = useWords(words);
  const told = useTold();
  const { data: deliveries, error } = useQuery(deliveriesQuery);
  const nameOf = (id: string) => channels.find((one) => one.id === id)?.name ?? id;
  if (error && !deliveries) return <Failure error={error} />;
  if (!deliveries) return <Skeleton active className={styles.skeleton} title={false} />;
  if (deliveries.length === 0) return <Nothing title={say.nothing} hint={say.nothingHint} />;
  const columns: Column<Delivery>[] = [
    { key: 'when', title: say.when, cell: ({ at }) => <TimeAgo at={at} /> },
    { key: 'level', title: say.level, cell: ({ level }) => say.levels[level] },
    {
      key: 'what',
      title: say.what,
      cell: ({ title, said, job_id }) => (
        <>
          {job_id ? (
            <Link to="/jobs/$jobId" params={{ jobId: job_id }}>
              {told(title)}
            </Link>
          ) : (
            told(title)
          )}
          <div className={styles.sub}>{told(said)}</div>
        </>
      ),
    },
    { key: 'through', title: say.through, cell: ({ channel }) => (channel ? nameOf(channel) : '') },
    {
      key: 'state',
      title: say.state,
      cell: (one) => (
        <>
          {say.states[one.state]}
          {one.n_attempts > 1 && <span className={styles.sub}> ({say.attempts(one.n_attempts)})</span>}
          {one.error && one.state !== 'sent' && <div className={styles.sub}>{told(one.error)}</div>}
        </>
      ),
    },
    {
      key: say.actions,
      title: '',
      isRight: true,
      cell: (one) => one.state === 'failed' && <Again delivery={one} />,
    },
  ];
  return <DataTable label={say.told} columns={columns} rows={deliveries} rowKey={({ id }) => id} />;
}

function Again({ delivery }: { delivery: Delivery }) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const path = { delivery_id: delivery.id };
  const sending = useMutation({
    mutationFn: () => answer(api.POST('/api/v1/alerts/deliveries/{delivery_id}/retry', { params: { path } })),
    onSuccess: () => done(say.sentAgain),
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: deliveriesQuery.queryKey }),
  });
  return (
    <Button size="small" loading={sending.isPending} onClick={() => sending.mutate()}>
      {say.again}
    </Button>
  );
}
