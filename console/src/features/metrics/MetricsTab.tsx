import { DownloadOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Select, Skeleton } from 'antd';
import { useState } from 'react';
import { call, type JobDetail } from '@/api/client';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { isFinal } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { saveText } from '@/ui/saveText';
import { TensorBoardButton } from '../job/inside/TensorBoardButton';
import { Controls, useDrawing } from './Controls';
import { CurveCharts } from './CurveCharts';
import { whoseOf } from './curves';
import styles from './metrics.module.css';
import { metricsQuery, useLiveMetrics } from './queries';
import { words } from './words';

const NO_LIVE: readonly string[] = [];

/** The curves of a job, as they grow. */
export default function MetricsTab({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const [drawing, setDrawing] = useDrawing();
  const [tasks, setTasks] = useState<string[]>([]);
  const [attempts, setAttempts] = useState<number[]>([]);
  const isOver = isFinal(job.state);
  const board = job.can.stop || job.can.delete;
  useLiveMetrics(isOver ? NO_LIVE : [job.id]);
  const wanted = { axis: drawing.axis, range: drawing.range, tasks, attempts };
  const { data, error } = useQuery(metricsQuery(job.id, wanted));
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton active title={false} paragraph={{ rows: 8 }} />;
  if (data.items.length === 0 && data.tasks.length === 0) {
    return (
      <Card>
        <Nothing
          title={isOver ? say.noneEver : say.none}
          hint={say.noneHint}
          action={board && <TensorBoardButton jobs={[job.id]} />}
        />
      </Card>
    );
  }
  return (
    <div>
      <Controls drawing={drawing} onDrawing={setDrawing}>
        {data.tasks.length > 1 && (
          <Select
            mode="multiple"
            aria-label={say.tasks}
            placeholder={say.allTasks}
            className={styles.wide}
            maxTagCount={2}
            value={tasks}
            onChange={setTasks}
            options={data.tasks.map((value) => ({ value, label: value }))}
          />
        )}
        {data.attempts.length > 1 && (
          <Select
            mode="multiple"
            aria-label={say.attempts}
            placeholder={say.attempt(job.attempt)}
            className={styles.wide}
            value={attempts}
            onChange={setAttempts}
            options={data.attempts.map((value) => ({ value, label: say.attempt(value) }))}
          />
        )}
        <Button icon={<DownloadOutlined aria-hidden />} onClick={() => void saveTable(job)}>
          {say.table}
        </Button>
        {board && <TensorBoardButton jobs={[job.id]} />}
      </Controls>
      <CurveCharts curves={data.items} whose={whoseOf(data.items)} drawing={drawing} onDrawing={setDrawing} />
    </div>
  );
}

async function saveTable(job: JobDetail): Promise<void> {
  const answered = await call(`/api/v1/jobs/${job.id}/metrics/export`);
  saveText(`${job.name}-metrics.csv`, await answered.text());
}
