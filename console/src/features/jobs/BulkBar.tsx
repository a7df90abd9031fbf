import { useMutation, useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { answer, api, type Job } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { useTell } from '@/ui/useTell';
import { forEach } from './forEach';
import styles from './jobs.module.css';
import { words } from './words';

type Act = (id: string) => Promise<unknown>;

const path = (id: string) => ({ params: { path: { job_id: id } } });
const stop: Act = (id) => answer(api.POST('/api/v1/jobs/{job_id}/stop', path(id)));
const restore: Act = (id) => answer(api.POST('/api/v1/jobs/{job_id}/restore', path(id)));
const remove =
  (forGood: boolean): Act =>
  (id) =>
    answer(
      api.DELETE('/api/v1/jobs/{job_id}', { params: { path: { job_id: id }, query: { for_good: forGood } } }),
    );

interface BulkBarProps {
  jobs: readonly Job[];
  /** How many of them are on another page. */
  nElsewhere: number;
  isTrash: boolean;
  onDone: () => void;
}

/** What can be done with the jobs that are selected. */
export function BulkBar({ jobs, nElsewhere, isTrash, onDone }: BulkBarProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  const acting = useMutation({
    mutationFn: ({ act, ids }: { act: Act; ids: string[] }) => forEach(ids, act),
    onSuccess: ({ nDone, errors }) => {
      if (nDone > 0) done(say.done(nDone));
      for (const error of errors.slice(0, 3)) failed(error);
      onDone();
    },
    onSettled: () => client.invalidateQueries({ queryKey: keys.jobs }),
  });
  const ask = (title: string, hint: string, okText: string, act: Act, chosen: readonly Job[]) =>
    modal.confirm({
      title,
      content: hint,
      okText,
      cancelText: say.cancel,
      okButtonProps: { danger: true },
      onOk: () => acting.mutateAsync({ act, ids: chosen.map((job) => job.id) }),
    });
  const living = jobs.filter((job) => !isFinal(job.state));
  const n = jobs.length;
  return (
    <div className={styles.bulk}>
      <strong>{say.selected(n)}</strong>
      {nElsewhere > 0 && <span className="quiet">{say.elsewhere(nElsewhere)}</span>}
      {isTrash ? (
        <>
          <Button onClick={() => acting.mutate({ act: restore, ids: jobs.map((job) => job.id) })}>
            {say.restore}
          </Button>
          <Button
            danger
            onClick={() => ask(say.forGoodAsk(n), say.forGoodHint, say.deleteForGood, remove(true), jobs)}
          >
            {say.deleteForGood}
          </Button>
        </>
      ) : (
        <>
          <Button
            disabled={living.length === 0}
            onClick={() => ask(say.stopAsk(living.length), say.stopHint, say.stop, stop, living)}
          >
            {say.stop}
          </Button>
          <Button
            danger
            onClick={() => ask(say.deleteAsk(n), say.deleteHint, say.delete, remove(false), jobs)}
          >
            {say.delete}
          </Button>
        </>
      )}
      <Button type="text" onClick={onDone}>
        {say.unselect}
      </Button>
    </div>
  );
}
