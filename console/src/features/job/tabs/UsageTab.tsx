import { useQuery } from '@tanstack/react-query';
import { Alert, Select, Skeleton } from 'antd';
import { useState } from 'react';
import type { JobDetail } from '@/api/client';
import { usageQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { Failure } from '@/ui/Failure';
import { isFinal } from '@/ui/jobState';
import { Card, Nothing } from '@/ui/Page';
import { useTold } from '@/ui/told';
import { UsageCharts } from '@/ui/UsageCharts';
import styles from '../job.module.css';
import { words } from '../words';

/** What one task uses over time, beside what it asked for. */
export default function UsageTab({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const told = useTold();
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
      {data?.advice.map((one) => (
        <Alert key={one.message_code} type="info" showIcon title={told(one)} />
      ))}
      {data && data.points.length > 0 && <UsageCharts points={data.points} most={data.asked} />}
      {data && data.points.length > 0 && data.points.every((p) => p.received_bytes_s === null) && (
        <p className="quiet">{say.noNetwork}</p>
      )}
    </div>
  );
}
