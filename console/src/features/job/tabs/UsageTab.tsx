import { useQuery } from '@tanstack/react-query';
import { Select, Skeleton } from 'antd';
import { useState } from 'react';
import type { JobDetail, Schemas } from '@/api/client';
import { usageQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { bytes, number } from '@/ui/amounts';
import { Chart, type Series } from '@/ui/Chart';
import { Failure } from '@/ui/Failure';
import { isFinal } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import styles from '../job.module.css';
import { words } from '../words';

type Point = Schemas['UsagePoint'];

/** What one task uses over time, beside what it asked for. */
export default function UsageTab({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const [chosen, setChosen] = useState<string>();
  const task = chosen ?? job.tasks[0]?.name ?? '';
  const { data, error } = useQuery(usageQuery(job.id, task, !isFinal(job.state)));
  return (
    <div className={styles.stack}>
      {job.tasks.length > 1 && (
        <div>
          <Select
            showSearch
            aria-label={say.task}
            className={styles.taskChoice}
            value={task}
            onChange={setChosen}
            options={job.tasks.map(({ name }) => ({ value: name, label: name }))}
          />
        </div>
      )}
      {error && !data && <Failure error={error} />}
      {!data && !error && <Skeleton active title={false} paragraph={{ rows: 8 }} />}
      {data?.points.length === 0 && (
        <Card>
          <Nothing
            title={isFinal(job.state) ? say.noUsageEver : say.noUsage}
            hint={isFinal(job.state) ? say.noUsageEverHint : say.noUsageHint}
          />
        </Card>
      )}
      {data && data.points.length > 0 && <Charts usage={data} />}
    </div>
  );
}

function Charts({ usage }: { usage: Schemas['UsageBody'] }) {
  const say = useWords(words);
  const { points, asked } = usage;
  const times = points.map((point) => Date.parse(point.at) / 1000);
  const of = (label: string, pick: (point: Point) => number | null): Series => ({
    label,
    values: points.map(pick),
  });
  const level = (value: number | undefined): Series => ({
    label: say.asked,
    values: points.map(() => value ?? null),
    isBound: true,
  });
  const hasGpu = points.some((point) => point.gpu_utilisation !== null);
  const hasDisk = points.some((point) => point.read_bytes_s !== null);
  const rate = (value: number) => `${bytes(value)}/s`;
  return (
    <div className={styles.charts}>
      <Chart
        title={say.cpu}
        times={times}
        show={number}
        series={[of(say.used, (p) => p.cpus), level(asked.cpus)]}
      />
      <Chart
        title={say.memory}
        times={times}
        isBytes
        show={bytes}
        series={[of(say.used, (p) => p.memory_bytes), level(asked.memory_bytes)]}
      />
      {hasGpu && (
        <>
          <Chart
            title={say.gpu}
            times={times}
            show={(value) => `${Math.round(value * 100)} %`}
            most={1}
            series={[of(say.used, (p) => p.gpu_utilisation)]}
          />
          <Chart
            title={say.gpuMemory}
            times={times}
            isBytes
            show={bytes}
            series={[of(say.used, (p) => p.gpu_memory_bytes)]}
          />
        </>
      )}
      {hasDisk && (
        <Chart
          title={say.io}
          times={times}
          isBytes
          show={rate}
          series={[of(say.read, (p) => p.read_bytes_s), of(say.written, (p) => p.written_bytes_s)]}
        />
      )}
    </div>
  );
}
