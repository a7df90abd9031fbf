import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Modal, Skeleton } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { answer, api, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { Failure } from '@/ui/Failure';
import { useTold } from '@/ui/told';
import { useOneAtATime } from '@/ui/useOneAtATime';
import { useReturnFocus } from '@/ui/useReturnFocus';
import { useTell } from '@/ui/useTell';
import { Expected } from './DryRun';
import { isMapping, type Mapping } from './document';
import { withPresets } from './presets';
import { nTasks } from './roles';
import type { Field } from './schema';
import styles from './submit.module.css';
import { writeText } from './text';
import { dryRunQuery, hiddenValuesOf, type Source, sentOf } from './useDryRun';
import { words } from './words';

const TextEditor = lazy(async () => ({ default: (await import('@/ui/TextEditor')).TextEditor }));

interface ConfirmProps {
  doc: Mapping;
  source: Source;
  root: Field;
  order: readonly string[];
  onClose: () => void;
  onSubmitted: () => void;
}

/** The final configuration, as the server read it; nothing is created before somebody agrees. */
export function Confirm({ doc, source, root, order, onClose, onSubmitted }: ConfirmProps) {
  const say = useWords(words);
  const client = useQueryClient();
  const navigate = useNavigate();
  const { done } = useTell();
  useReturnFocus();
  // One key for as long as this is open: pressing again after a broken line makes one job.
  const [key] = useState(() => `console-${Date.now()}-${Math.random().toString(36).slice(2)}`);
  const { data, error } = useQuery(dryRunQuery(doc, source));
  const submitting = useMutation({
    mutationFn: () =>
      answer(
        api.POST('/api/v1/jobs', {
          params: { header: { 'Idempotency-Key': key, ...hiddenValuesOf(source.clone) } },
          body: sentOf(doc, source.foreign) as never,
        }),
      ),
    onSuccess: (job) => {
      onSubmitted();
      done(say.submitted(job.name));
      void client.invalidateQueries({ queryKey: keys.jobs });
      void client.invalidateQueries({ queryKey: keys.platform });
      void navigate({ to: '/jobs/$jobId', params: { jobId: job.id } });
    },
  });
  const { press } = useOneAtATime(() => submitting.mutateAsync());
  const config = data && withPresets(data.config as Mapping, root);
  return (
    <Modal
      open
      centered
      width={720}
      title={say.confirm}
      okText={say.submit}
      cancelText={say.cancel}
      okButtonProps={{ disabled: !data, autoFocus: true }}
      confirmLoading={submitting.isPending}
      onOk={() => void press()}
      onCancel={onClose}
    >
      {(error || submitting.error) && <Failure error={submitting.error ?? error} />}
      {!config && !error && <Skeleton active />}
      {data && config && (
        <>
          <Facts config={config} dryRun={data} />
          <p className="quiet">{say.confirmIntro}</p>
          <div className={styles.final}>
            <Suspense fallback={<Skeleton active className={styles.skeleton} title={false} />}>
              <TextEditor
                isReadOnly
                value={writeText(config, 'yaml', order)}
                language="yaml"
                label={say.confirmIntro}
              />
            </Suspense>
          </div>
        </>
      )}
    </Modal>
  );
}

function Facts({ config, dryRun }: { config: Mapping; dryRun: Schemas['DryRun'] }) {
  const say = useWords(words);
  const amount = useAmount();
  const told = useTold();
  const { facts } = say;
  const code = isMapping(config.code) && typeof config.code.upload === 'string' ? config.code.upload : '';
  return (
    <dl className={styles.facts}>
      <dt>{facts.name}</dt>
      <dd>{String(config.name)}</dd>
      <dt>{facts.queue}</dt>
      <dd>{String(config.queue)}</dd>
      <dt>{facts.tasks}</dt>
      <dd>{nTasks(config)}</dd>
      <dt>{facts.asks}</dt>
      <dd>{amount(dryRun.resources)}</dd>
      <dt>{facts.code}</dt>
      <dd>{code ? <code>{code.slice(0, 19)}…</code> : say.noCode}</dd>
      <dt>{facts.start}</dt>
      <dd>
        {dryRun.would_start ? (
          say.startsNow
        ) : (
          <>
            {say.waits(told(dryRun.reason))}
            <div>
              <Expected estimate={dryRun.estimate} />
            </div>
          </>
        )}
      </dd>
    </dl>
  );
}
