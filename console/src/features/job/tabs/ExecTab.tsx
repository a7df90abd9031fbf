import { useMutation } from '@tanstack/react-query';
import { Button, Form, Input, Select } from 'antd';
import { useState } from 'react';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { Card, Nothing } from '@/ui/Page';
import { isWhole, WholeItem } from '@/ui/WholeItem';
import { ServicesCard } from '../inside/ServicesCard';
import { TerminalCard } from '../inside/TerminalCard';
import styles from '../job.module.css';
import { segments } from '../log/ansi';
import { words } from '../words';

const FIRST_LIMIT_S = 60;
const MOST_LIMIT_S = 600;

interface Ran {
  id: number;
  task: string;
  command: string;
  result: Schemas['RanBody'];
}

interface Fields {
  task: string;
  command: string;
  timeout_s: number;
}

/** Commands inside a task, one after the other, each with what it printed. */
export default function ExecTab({ job, canRun }: { job: JobDetail; canRun: boolean }) {
  const say = useWords(words);
  const [history, setHistory] = useState<Ran[]>([]);
  const running = useMutation({
    mutationFn: async ({ task, command, timeout_s }: Fields) => {
      const body = { task, command: ['sh', '-c', command], timeout_s };
      const params = { path: { job_id: job.id } };
      return answer(api.POST('/api/v1/jobs/{job_id}/exec', { params, body }));
    },
    onSuccess: (result, { task, command }) =>
      setHistory((before) => [{ id: before.length, task, command, result }, ...before]),
  });
  const first = job.tasks.find(({ state }) => state === 'RUNNING') ?? job.tasks[0];
  // One choice for the terminal, the services and SSH.
  const [task, setTask] = useState(first?.name);
  return (
    <div className={styles.stack}>
      <TerminalCard job={job} canRun={canRun} task={task} onTask={setTask} />
      {canRun && <ServicesCard job={job} task={task} />}
      <Card title={say.oneCommand}>
        {!canRun && <Nothing title={say.noCommandNow} />}
        {canRun && (
          <Form<Fields>
            layout="vertical"
            requiredMark={false}
            initialValues={{ task: first?.name, command: 'ls -la', timeout_s: FIRST_LIMIT_S }}
            onFinish={(fields) => running.mutate(fields)}
          >
            <div className={styles.execLine}>
              <Form.Item name="task" label={say.task}>
                <Select
                  showSearch
                  options={job.tasks.map((task) => ({ value: task.name, label: task.name }))}
                  popupMatchSelectWidth={false}
                />
              </Form.Item>
              <Form.Item
                name="command"
                label={say.command}
                extra={say.commandHelp}
                className={styles.grow}
                rules={[{ required: true, message: say.needed }]}
              >
                <Input className="mono" autoComplete="off" spellCheck={false} maxLength={4096} />
              </Form.Item>
              <WholeItem name="timeout_s" label={say.timeLimit} least={1} most={MOST_LIMIT_S} />
              <Form.Item label=" " colon={false} dependencies={['timeout_s']}>
                {({ getFieldValue }) => (
                  <Button
                    type="primary"
                    htmlType="submit"
                    loading={running.isPending}
                    disabled={!isWhole(getFieldValue('timeout_s'), 1, MOST_LIMIT_S)}
                  >
                    {say.run}
                  </Button>
                )}
              </Form.Item>
            </div>
          </Form>
        )}
        {running.error && <Failure error={running.error} />}
      </Card>
      {history.map((ran) => (
        <Output key={ran.id} ran={ran} />
      ))}
    </div>
  );
}

function Output({ ran }: { ran: Ran }) {
  const say = useWords(words);
  const { command, task, result } = ran;
  return (
    <Card
      isFlush
      title={<code>{command}</code>}
      extra={
        <span className="quiet">
          {task} · {say.exitCode(result.exit_code)}
        </span>
      }
    >
      <pre className={styles.output} tabIndex={0}>
        {segments(result.output)
          .map((part) => part.text)
          .join('')}
      </pre>
      {result.is_cut && <p className={styles.padded}>{say.outputCut}</p>}
    </Card>
  );
}
