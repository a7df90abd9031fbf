import { useMutation } from '@tanstack/react-query';
import { Button, Select, Skeleton } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card } from '@/ui/Page';
import styles from './inside.module.css';
import { words } from './words';

// The terminal is large, and not everybody needs one.
const Screen = lazy(() => import('./Screen'));

interface TerminalProps {
  job: JobDetail;
  canRun: boolean;
  task: string | undefined;
  onTask: (name: string) => void;
}

/** A shell in a task, opened when somebody asks for it. */
export function TerminalCard({ job, canRun, task, onTask }: TerminalProps) {
  const say = useWords(words);
  const [shell, setShell] = useState<Schemas['ShellBody'] | null>(null);
  const [isOver, setIsOver] = useState(false);
  const opening = useMutation({
    mutationFn: async () => {
      const params = { path: { job_id: job.id } };
      return answer(
        api.POST('/api/v1/jobs/{job_id}/shells', { params, body: { task, rows: 24, columns: 80 } }),
      );
    },
    onSuccess: (opened) => {
      setIsOver(false);
      setShell(opened);
    },
  });
  return (
    <Card>
      <div className={styles.line}>
        <Select
          showSearch
          aria-label={say.task}
          value={task}
          onChange={onTask}
          options={job.tasks.map(({ name }) => ({ value: name, label: name }))}
          popupMatchSelectWidth={false}
        />
        {(shell === null || isOver) && (
          <Button
            type="primary"
            disabled={!canRun}
            loading={opening.isPending}
            onClick={() => opening.mutate()}
          >
            {say.open}
          </Button>
        )}
        {shell !== null && <Button onClick={() => setShell(null)}>{say.close}</Button>}
        <span className="quiet">{say.hint}</span>
      </div>
      {opening.error && <Failure error={opening.error} />}
      {shell !== null && (
        <Suspense fallback={<Skeleton active title={false} paragraph={{ rows: 8 }} />}>
          <Screen key={shell.id} shell={shell} onEnd={() => setIsOver(true)} />
        </Suspense>
      )}
    </Card>
  );
}
