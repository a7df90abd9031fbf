import {
  ClearOutlined,
  CopyOutlined,
  DeleteOutlined,
  DownloadOutlined,
  EditOutlined,
  ExperimentOutlined,
  FolderOpenOutlined,
  MoreOutlined,
  PauseCircleOutlined,
  ReloadOutlined,
  RollbackOutlined,
  StopOutlined,
} from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { App, Button, type MenuProps } from 'antd';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { answer, api, download, type JobDetail } from '@/api/client';
import { jobFilesQuery, keys, putJob, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { LinkButton } from '@/ui/LinkButton';
import { MenuButton } from '@/ui/MenuButton';
import { mayFetch, maySubmit } from '@/ui/rights';
import { useOneAtATime } from '@/ui/useOneAtATime';
import { useTell } from '@/ui/useTell';
import styles from './job.module.css';
import { words } from './words';

type Verb = 'stop' | 'halt' | 'preempt' | 'release' | 'restore';
const EditDialog = lazy(() => import('./EditDialog'));
const RegisterDialog = lazy(async () => ({
  default: (await import('@/features/models/dialogs')).RegisterDialog,
}));
const PARTS = ['output', 'checkpoints', 'work', 'code'] as const;

/** What the caller may do with the job now: nothing is offered that would be refused. */
export function Actions({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const act = useActions(job);
  const [isEditing, setEditing] = useState(false);
  const [isRegistering, setRegistering] = useState(false);
  const { can } = job;
  const { data: me } = useQuery(sessionQuery);
  const runs = isFinal(job.state) ? '' : say.runsStill;
  const verb = (name: Verb, icon: ReactNode, hint: string, title: string) =>
    can[name]
      ? [
          {
            key: name,
            label: say[name],
            icon,
            onClick: () => act.ask(title, hint, say[name], () => act.change(name)),
          },
        ]
      : [];
  const more: NonNullable<MenuProps['items']> = [
    ...verb('halt', <PauseCircleOutlined aria-hidden />, say.haltHint, say.haltAsk(job.name)),
    ...verb('preempt', <RollbackOutlined aria-hidden />, say.preemptHint, say.preemptAsk(job.name)),
    ...(can.edit
      ? [
          {
            key: 'edit',
            label: say.edit,
            icon: <EditOutlined aria-hidden />,
            onClick: () => setEditing(true),
          },
        ]
      : []),
    ...(job.is_readable && job.started_at !== null && job.deleted_at === null
      ? [
          {
            key: 'register',
            label: say.register,
            icon: <ExperimentOutlined aria-hidden />,
            onClick: () => setRegistering(true),
          },
        ]
      : []),
    ...(can.delete && job.deleted_at === null
      ? [
          {
            key: 'delete',
            danger: true,
            label: say.delete,
            icon: <DeleteOutlined aria-hidden />,
            onClick: () =>
              act.ask(say.deleteAsk(job.name), runs + say.deleteHint, say.delete, () => act.remove(false)),
          },
        ]
      : []),
    ...(can.delete
      ? [
          {
            key: 'for-good',
            danger: true,
            label: say.deleteForGood,
            icon: <ClearOutlined aria-hidden />,
            onClick: () =>
              act.ask(say.forGoodAsk(job.name), runs + say.forGoodHint, say.deleteForGood, () =>
                act.remove(true),
              ),
          },
        ]
      : []),
  ];
  return (
    <div className={styles.actions}>
      {can.release && (
        <Button
          onClick={() =>
            act.ask(say.releaseAsk(job.name), say.releaseHint, say.release, () => act.change('release'))
          }
        >
          {say.release}
        </Button>
      )}
      {can.restore && <Button onClick={() => void act.change('restore')}>{say.restore}</Button>}
      {can.stop && !isFinal(job.state) && (
        <Button
          icon={<StopOutlined aria-hidden />}
          onClick={() => act.ask(say.stopAsk(job.name), say.stopHint, say.stop, () => act.change('stop'))}
        >
          {say.stop}
        </Button>
      )}
      {isFinal(job.state) && job.is_readable && job.deleted_at === null && maySubmit(me, job.queue) && (
        <Button
          icon={<ReloadOutlined aria-hidden />}
          loading={act.isRunningAgain}
          onClick={() => void act.again()}
        >
          {say.again}
        </Button>
      )}
      {job.is_readable && (
        <LinkButton to="/submit" search={{ clone: job.id }} icon={<CopyOutlined aria-hidden />}>
          {say.clone}
        </LinkButton>
      )}
      {mayFetch(me, job) && <Downloads job={job} />}
      {more.length > 0 && (
        <MenuButton
          items={more}
          placement="bottomRight"
          icon={<MoreOutlined aria-hidden />}
          aria-label={say.more}
        />
      )}
      {isEditing && (
        <Suspense>
          <EditDialog job={job} onClose={() => setEditing(false)} />
        </Suspense>
      )}
      {isRegistering && (
        <Suspense>
          <RegisterDialog job={job} onClose={() => setRegistering(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The job's files; what is not there is said, and cannot be asked for. */
function Downloads({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const { failed } = useTell();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const { data: present } = useQuery({ ...jobFilesQuery(job.id), enabled: isOpen });
  const items = PARTS.map((part) => ({
    key: part,
    label: present && !present.includes(part) ? say.nothingIn(say.downloads[part]) : say.downloads[part],
    disabled: !present?.includes(part),
    onClick: () => void download(`/api/v1/jobs/${job.id}/download?what=${part}`).catch(failed),
  }));
  const browse = {
    key: 'browse',
    label: say.browse,
    icon: <FolderOpenOutlined aria-hidden />,
    disabled: present?.length === 0,
    onClick: () => void navigate({ to: '/files', search: { job: job.id } }),
  };
  return (
    <MenuButton
      items={[browse, ...items]}
      open={isOpen}
      onOpenChange={setOpen}
      icon={<DownloadOutlined aria-hidden />}
    >
      {say.download}
    </MenuButton>
  );
}

function useActions(job: JobDetail) {
  const say = useWords(words);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  const path = { path: { job_id: job.id } };
  const renew = () => {
    void client.invalidateQueries({ queryKey: keys.job(job.id) });
    void client.invalidateQueries({ queryKey: keys.jobs });
  };
  const changing = useMutation({
    mutationFn: (verb: Verb) => answer(api.POST(`/api/v1/jobs/{job_id}/${verb}`, { params: path })),
    onSuccess: (changed, verb) => {
      done(say.did[verb](job.name));
      return putJob(client, job.id, changed);
    },
    onError: (error) => {
      failed(error);
      renew();
    },
  });
  const removing = useMutation({
    mutationFn: (forGood: boolean) =>
      answer(api.DELETE('/api/v1/jobs/{job_id}', { params: { ...path, query: { for_good: forGood } } })),
    onSuccess: (_gone, forGood) => {
      if (forGood) done(say.deletedForGood(job.name));
      // One that is still being stopped cannot be taken back yet.
      else done(say.deleted(job.name), isFinal(job.state) ? () => void restore() : undefined);
      void navigate({ to: '/jobs' });
      // Not the job itself: it may be gone.
      void client.invalidateQueries({ queryKey: keys.jobs });
    },
    onError: (error) => {
      failed(error);
      renew();
    },
  });
  const restore = async () => {
    try {
      await answer(api.POST('/api/v1/jobs/{job_id}/restore', { params: path }));
      done(say.restored(job.name));
    } catch (error) {
      failed(error);
    }
    renew();
  };
  const cloning = useMutation({
    mutationFn: () => answer(api.POST('/api/v1/jobs/{job_id}/clone', { params: path })),
    onSuccess: (made) => {
      done(say.cloned(made.name));
      void navigate({ to: '/jobs/$jobId', params: { jobId: made.id } });
    },
    onError: failed,
  });
  const { press, again } = useOneAtATime(() => cloning.mutateAsync());
  // biome-ignore lint/correctness/useExhaustiveDependencies: the page of another job has a button of its own
  useEffect(again, [job.id]);
  return {
    // Failures are told where they happen; a dialog has nothing to add.
    change: (verb: Verb) => changing.mutateAsync(verb).catch(() => undefined),
    remove: (forGood: boolean) => removing.mutateAsync(forGood).catch(() => undefined),
    again: press,
    isRunningAgain: cloning.isPending,
    ask: (title: string, hint: string, okText: string, onOk: () => Promise<unknown>) =>
      modal.confirm({
        title,
        content: hint,
        okText,
        cancelText: say.cancel,
        okButtonProps: { danger: true },
        onOk,
      }),
  };
}
