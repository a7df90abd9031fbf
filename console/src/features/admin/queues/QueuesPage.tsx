import { DeleteOutlined, PlusOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Alert, Button, Skeleton, Switch } from 'antd';
import { useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { jobsQuery, keys, nodesQuery, queuesQuery, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { sentence } from '@/ui/formProblems';
import { Card, Nothing, Page } from '@/ui/Page';
import { QueueBars } from '@/ui/QueueBars';
import { RiskMenu } from '@/ui/RiskMenu';
import { useTold } from '@/ui/told';
import { useTell } from '@/ui/useTell';
import styles from '../admin.module.css';
import { words } from '../words';
import { Members } from './Members';
import { QueueForm } from './QueueForm';

/** Where jobs go that name no queue. */
const DEFAULT_QUEUE = 'default';

export type Queue = Schemas['QueueBody'];

type Asked = { what: 'new' } | { what: 'edit' | 'members'; queue: Queue } | null;

/** Queues with their shares and people: all of them for platform admins, their own for queue admins. */
export function QueuesPage() {
  const say = useWords(words);
  const { data: me } = useQuery(sessionQuery);
  const { data: queues, error } = useQuery(queuesQuery);
  const [asked, setAsked] = useState<Asked>(null);
  const close = () => setAsked(null);
  const ruled = queues?.filter(({ my_role }) => my_role === 'admin');
  return (
    <Page
      title={say.queues.title}
      actions={
        me?.is_admin && (
          <Button
            type="primary"
            icon={<PlusOutlined aria-hidden />}
            onClick={() => setAsked({ what: 'new' })}
          >
            {say.queues.add}
          </Button>
        )
      }
    >
      {error && !queues && <Failure error={error} />}
      {!queues && !error && (
        <Card>
          <Skeleton active />
        </Card>
      )}
      {ruled?.length === 0 && (
        <Card>
          <Nothing title={say.queues.none} hint={say.queues.noneHint} />
        </Card>
      )}
      <div className={styles.stack}>
        {ruled?.map((queue) => (
          <QueueCard
            key={queue.name}
            queue={queue}
            isPlatformAdmin={Boolean(me?.is_admin)}
            onAsk={setAsked}
          />
        ))}
      </div>
      {asked?.what === 'new' && <QueueForm onClose={close} />}
      {asked?.what === 'edit' && <QueueForm queue={asked.queue} onClose={close} />}
      {asked?.what === 'members' && <Members queue={asked.queue.name} onClose={close} />}
    </Page>
  );
}

interface QueueCardProps {
  queue: Queue;
  isPlatformAdmin: boolean;
  onAsk: (asked: Asked) => void;
}

function QueueCard({ queue, isPlatformAdmin, onAsk }: QueueCardProps) {
  const say = useWords(words);
  const amount = useAmount();
  const told = useTold();
  const { maximum, share } = queue;
  const environments = Object.entries(queue.environments ?? {});
  const { data: nodes = [] } = useQuery(nodesQuery);
  return (
    <Card
      title={
        <span className={styles.heading}>
          {queue.name}
          {!queue.is_open && (
            <span className={styles.tag} data-tone="warn">
              {say.queues.closed}
            </span>
          )}
          <span className="quiet">{say.queues.about(queue.description)}</span>
        </span>
      }
      extra={<QueueActions queue={queue} isPlatformAdmin={isPlatformAdmin} onAsk={onAsk} />}
    >
      <div className={styles.bars}>
        <QueueBars queue={queue} nodes={nodes} />
      </div>
      {queue.warnings.map(told).map((warning) => (
        <Alert key={warning} className={styles.warning} type="warning" showIcon title={sentence(warning)} />
      ))}
      <dl className={styles.facts}>
        <dt>{say.queues.share}</dt>
        <dd>{isNothing(share) ? say.queues.noShare : amount(share)}</dd>
        <dt>{say.queues.maximum}</dt>
        <dd>{maximum ? amount(withoutNull(maximum)) : say.queues.unlimited}</dd>
        <dt>{say.queues.shared}</dt>
        <dd>{queue.is_shared ? say.queues.sharedHelp : say.queues.privateHelp}</dd>
        <dt>{say.queues.nodes}</dt>
        <dd>{queue.nodes.length === 0 ? say.queues.allNodes : queue.nodes.join(', ')}</dd>
        {queue.engine && (
          <>
            <dt>{say.queues.engine}</dt>
            <dd>
              {queue.engine}
              {queue.engine_problem && (
                <span className={styles.tag} data-tone="warn">
                  {told(queue.engine_problem)}
                </span>
              )}
            </dd>
          </>
        )}
        {environments.length > 0 && (
          <>
            <dt>{say.queues.environments}</dt>
            <dd>
              {environments.map(([image, path]) => (
                <div key={image}>
                  <code>{image}</code> → <code>{path}</code>
                </div>
              ))}
            </dd>
          </>
        )}
        <dt>{say.queues.jobs}</dt>
        <dd>
          <Link to="/jobs" search={{ queue: [queue.name] }}>
            {say.queues.running(queue.n_running)} · {say.queues.waiting(queue.n_waiting)}
          </Link>
        </dd>
      </dl>
    </Card>
  );
}

const isNothing = ({ cpus = 0, memory_bytes = 0, gpus = 0 }: Schemas['Amount']) =>
  cpus === 0 && memory_bytes === 0 && gpus === 0;

const withoutNull = ({ cpus, memory_bytes, gpus }: Schemas['Maximum']): Schemas['Amount'] => ({
  cpus: cpus ?? 0,
  memory_bytes: memory_bytes ?? 0,
  gpus: gpus ?? 0,
});

/** Why a queue cannot be deleted: asked when somebody is about to. */
function useWhyItStays(queue: Queue, isAsked: boolean): string | undefined {
  const say = useWords(words).queues;
  const inQueue = { queue: [queue.name], limit: 1 };
  const { data: jobs } = useQuery({ ...jobsQuery(inQueue), enabled: isAsked });
  const { data: deleted } = useQuery({ ...jobsQuery({ ...inQueue, trash: true }), enabled: isAsked });
  if (queue.name === DEFAULT_QUEUE) return say.defaultStays;
  if (jobs?.items.length) return say.hasJobs;
  return deleted?.items.length ? say.hasJobsInTrash : undefined;
}

function QueueActions({ queue, isPlatformAdmin, onAsk }: QueueCardProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const { done, failed } = useTell();
  const path = { name: queue.name };
  const [isMenuOpen, setMenuOpen] = useState(false);
  const stays = useWhyItStays(queue, isMenuOpen);
  const settle = {
    onError: failed,
    onSettled: () => client.invalidateQueries({ queryKey: keys.platform }),
  };
  const opening = useMutation({
    mutationFn: (is_open: boolean) =>
      answer(api.PATCH('/api/v1/queues/{name}', { params: { path }, body: { is_open } })),
    onSuccess: () => done(say.queues.changed(queue.name)),
    ...settle,
  });
  const deleting = useMutation({
    mutationFn: () => answer(api.DELETE('/api/v1/queues/{name}', { params: { path } })),
    onSuccess: () => done(say.queues.deleted(queue.name)),
    ...settle,
  });
  return (
    <div className={styles.actions}>
      <Button
        size="small"
        aria-label={say.queues.membersOf(queue.name)}
        onClick={() => onAsk({ what: 'members', queue })}
      >
        {say.queues.members}
      </Button>
      {isPlatformAdmin && (
        <>
          <Button
            size="small"
            aria-label={say.queues.edit(queue.name)}
            onClick={() => onAsk({ what: 'edit', queue })}
          >
            {say.edit}
          </Button>
          <span className={styles.open} title={say.queues.openHelp}>
            <span className="quiet">{say.queues.open}</span>
            <Switch
              size="small"
              checked={queue.is_open}
              loading={opening.isPending}
              aria-label={say.queues.openOf(queue.name)}
              onChange={(isOpen) => opening.mutate(isOpen)}
            />
          </span>
          <RiskMenu
            of={queue.name}
            label={say.delete}
            icon={<DeleteOutlined aria-hidden />}
            title={say.queues.deleteAsk(queue.name)}
            blocked={stays}
            onOpenChange={setMenuOpen}
            onOk={() => deleting.mutate()}
          />
        </>
      )}
    </div>
  );
}
