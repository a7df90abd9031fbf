import { useMutation, useQuery } from '@tanstack/react-query';
import { Button, InputNumber } from 'antd';
import { useState } from 'react';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Copy } from '@/ui/Copy';
import { Failure } from '@/ui/Failure';
import { Card } from '@/ui/Page';
import { useTell } from '@/ui/useTell';
import styles from './inside.module.css';
import { useOpening } from './opening';
import { words } from './words';

type Opened = Pick<Schemas['OpeningBody'], 'service' | 'task' | 'jobs'>;

const PROGRAMS = ['jupyter', 'tensorboard', 'desktop'] as const;
const REFRESH_MS = 5000;

/** What a browser can open in a task, what is open, and how to come in by SSH. */
export function ServicesCard({ job, task }: { job: JobDetail; task: string | undefined }) {
  const say = useWords(words);
  const [port, setPort] = useState<number | null>(null);
  const opening = useOpening();
  const open = (service: string) => opening.mutate({ job: job.id, service, task });
  // Where it is listed, whatever task is chosen above.
  const openAgain = ({ service, task, jobs }: Opened) =>
    opening.mutate({
      job: job.id,
      service,
      task: task || undefined,
      others: jobs.filter((id) => id !== job.id),
    });
  return (
    <Card title={say.services}>
      <div className={styles.line}>
        {PROGRAMS.map((name) => (
          <Button
            key={name}
            loading={opening.isPending && opening.variables.service === name}
            disabled={opening.isPending}
            onClick={() => open(name)}
          >
            {say.programs[name]}
          </Button>
        ))}
        <InputNumber
          aria-label={say.port}
          placeholder={say.port}
          min={1}
          max={65_535}
          precision={0}
          value={port}
          onChange={setPort}
        />
        <Button disabled={port === null || opening.isPending} onClick={() => open(String(port))}>
          {say.openPort}
        </Button>
        <span className="quiet">{say.servicesHint}</span>
      </div>
      {opening.error && <Failure error={opening.error} />}
      <OpenOnes job={job} onOpen={openAgain} />
      <SshLine job={job} task={task} />
    </Card>
  );
}

/** What runs, with a way to end it. */
function OpenOnes({ job, onOpen }: { job: JobDetail; onOpen: (opened: Opened) => void }) {
  const say = useWords(words);
  const tell = useTell();
  const { data, refetch } = useQuery({
    queryKey: ['services', job.id],
    queryFn: () =>
      answer(api.GET('/api/v1/jobs/{job_id}/services', { params: { path: { job_id: job.id } } })),
    refetchInterval: REFRESH_MS,
  });
  const closing = useMutation({
    mutationFn: (service: string) => {
      const params = { path: { job_id: job.id, service } };
      return answer(api.DELETE('/api/v1/jobs/{job_id}/services/{service}', { params }));
    },
    onError: tell.failed,
    onSettled: () => refetch(),
  });
  if (!data?.items.length) return null;
  return (
    <ul className={styles.open} aria-label={say.openNow}>
      {data.items.map(({ service, task, jobs }) => (
        <li key={`${service} ${task} ${jobs.join(' ')}`} className={styles.line}>
          <Button type="link" size="small" onClick={() => onOpen({ service, task, jobs })}>
            {service in say.programs ? say.programs[service as keyof typeof say.programs] : service}
          </Button>
          <span className="quiet">{task || say.beside(jobs.length)}</span>
          <Button
            size="small"
            aria-label={say.endOf(service)}
            loading={closing.isPending && closing.variables === service}
            onClick={() => closing.mutate(service)}
          >
            {say.end}
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The command for SSH, asked for by a click: a server may have no gateway, and says so. */
function SshLine({ job, task }: { job: JobDetail; task: string | undefined }) {
  const say = useWords(words);
  const asking = useMutation({
    mutationFn: () => {
      const params = { path: { job_id: job.id }, query: { task } };
      return answer(api.GET('/api/v1/jobs/{job_id}/ssh', { params }));
    },
  });
  return (
    <div className={styles.line}>
      <Button loading={asking.isPending} onClick={() => asking.mutate()}>
        {say.ssh}
      </Button>
      {asking.data && (
        <span>
          <code>{asking.data.command}</code> <Copy text={asking.data.command} />
        </span>
      )}
      {asking.error && <Failure error={asking.error} />}
    </div>
  );
}
