import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { answer, api, type Job } from '@/api/client';
import { keys, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { mayTouch } from '@/ui/rights';
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
  const { data: me } = useQuery(sessionQuery);
  const own = jobs.filter((job) => mayTouch(me, job));
  const living = own.filter((job) => !isFinal(job.state));
  const nOthers = jobs.length - own.length;
  const n = own.length;
  const names = (some: readonly Job[]) => (some.length === 1 ? (some[0]?.name ?? '') : '');
  return (
    <div className={styles.bulk}>
      <strong>{say.selected(jobs.length)}</strong>
      {nOthers > 0 && <span className="quiet">{say.notYours(nOthers)}</span>}
      {nElsewhere > 0 && <span className="quiet">{say.elsewhere(nElsewhere)}</span>}
      {isTrash ? (
        <>
          <Button
            disabled={n === 0}
            onClick={() => acting.mutate({ act: restore, ids: own.map((job) => job.id) })}
          >
            {say.restore}
          </Button>
          <Button
            danger
            disabled={n === 0}
            onClick={() =>
              ask(say.forGoodAsk(n, names(own)), say.forGoodHint, say.deleteForGood, remove(true), own)
            }
          >
            {say.deleteForGood}
          </Button>
        </>
      ) : (
        <>
          <Button
            disabled={living.length === 0}
            onClick={() =>
              ask(say.stopAsk(living.length, names(living)), say.stopHint, say.stop, stop, living)
            }
          >
            {say.stop}
          </Button>
          <Button
            danger
            disabled={n === 0}
            onClick={() => ask(say.deleteAsk(n, names(own)), say.deleteHint, say.delete, remove(false), own)}
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
