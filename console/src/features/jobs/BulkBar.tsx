import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { answer, api, type Job } from '@/api/client';
import { keys, sessionQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { LinkButton } from '@/ui/LinkButton';
import { maySubmit, mayTouch } from '@/ui/rights';
import { useTell } from '@/ui/useTell';
import { forEach, type Outcome } from './forEach';
import styles from './jobs.module.css';
import { words } from './words';

type Act = (id: string) => Promise<unknown>;
type Verb = 'stop' | 'delete' | 'forGood' | 'restore' | 'again';

const path = (id: string) => ({ params: { path: { job_id: id } } });
const remove =
  (forGood: boolean): Act =>
  (id) =>
    answer(
      api.DELETE('/api/v1/jobs/{job_id}', { params: { path: { job_id: id }, query: { for_good: forGood } } }),
    );
const ACTS: Record<Verb, Act> = {
  stop: (id) => answer(api.POST('/api/v1/jobs/{job_id}/stop', path(id))),
  restore: (id) => answer(api.POST('/api/v1/jobs/{job_id}/restore', path(id))),
  again: (id) => answer(api.POST('/api/v1/jobs/{job_id}/clone', path(id))),
  delete: remove(false),
  forGood: remove(true),
};

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
  const act = useActs(onDone);
  const { data: me } = useQuery(sessionQuery);
  const own = jobs.filter((job) => mayTouch(me, job));
  const living = own.filter((job) => !isFinal(job.state));
  const over = jobs.filter((job) => isFinal(job.state) && job.is_readable && maySubmit(me, job.queue));
  const nOthers = jobs.length - own.length;
  const nOver = own.length - living.length;
  const button = (verb: Verb, label: string, chosen: readonly Job[], hint = '') => (
    <Button disabled={chosen.length === 0} onClick={() => act.ask(verb, label, chosen, hint)}>
      {label}
    </Button>
  );
  return (
    <div className={styles.bulk}>
      <strong>{say.selected(jobs.length)}</strong>
      {nOthers > 0 && <span className="quiet">{say.notYours(nOthers)}</span>}
      {nElsewhere > 0 && <span className="quiet">{say.elsewhere(nElsewhere)}</span>}
      {isTrash ? (
        <>
          <Button disabled={own.length === 0} onClick={() => act.now('restore', own)}>
            {say.restore}
          </Button>
          {button('forGood', say.deleteForGood, own, say.forGoodHint)}
        </>
      ) : (
        <>
          {button(
            'stop',
            say.stop,
            living,
            [nOver > 0 && say.areOver(nOver), say.stopHint].filter(Boolean).join(' '),
          )}
          {button('again', say.again, over, say.againHint(jobs.length - over.length))}
          {button('delete', say.delete, own, say.deleteHint)}
          {jobs.length > 1 && (
            <LinkButton to="/compare" search={{ jobs: jobs.map(({ id }) => id).join(',') }}>
              {say.compare}
            </LinkButton>
          )}
        </>
      )}
      <Button type="text" onClick={onDone}>
        {say.unselect}
      </Button>
    </div>
  );
}

function useActs(onDone: () => void) {
  const say = useWords(words);
  const client = useQueryClient();
  const { modal } = App.useApp();
  const { done, failed } = useTell();
  const renew = () => client.invalidateQueries({ queryKey: keys.jobs });
  const tell = (verb: Verb, { done: ids, errors }: Outcome, undo?: () => void) => {
    if (ids.length > 0) done(say.did[verb](ids.length), undo);
    for (const error of errors.slice(0, 3)) failed(error);
  };
  const acting = useMutation({
    mutationFn: ({ verb, chosen }: { verb: Verb; chosen: readonly Job[] }) =>
      forEach(
        chosen.map(({ id }) => id),
        ACTS[verb],
      ),
    onSuccess: (outcome, { verb, chosen }) => {
      // One that is still being stopped cannot be taken back yet.
      const canUndo = verb === 'delete' && chosen.every(({ state }) => isFinal(state));
      tell(verb, outcome, canUndo ? () => void restore(outcome.done) : undefined);
      onDone();
    },
    onSettled: renew,
  });
  const restore = async (ids: readonly string[]) => {
    tell('restore', await forEach(ids, ACTS.restore));
    await renew();
  };
  return {
    now: (verb: Verb, chosen: readonly Job[]) => acting.mutate({ verb, chosen }),
    ask: (verb: Verb, label: string, chosen: readonly Job[], hint: string) =>
      void modal.confirm({
        title: say.asks[verb](chosen.length, chosen.length === 1 ? (chosen[0]?.name ?? '') : ''),
        content: hint,
        okText: label,
        cancelText: say.cancel,
        okButtonProps: { danger: verb !== 'again' },
        onOk: () => acting.mutateAsync({ verb, chosen }),
      }),
  };
}
