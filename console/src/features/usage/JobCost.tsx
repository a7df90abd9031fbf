import { queryOptions, useQuery } from '@tanstack/react-query';
import { answer, api, type JobDetail, type Schemas } from '@/api/client';
import { keys } from '@/api/queries';
import { useWords } from '@/i18n/language';
import { hours, money } from './money';
import { words } from './words';

const costQuery = (jobId: string, state: string) =>
  queryOptions({
    queryKey: [...keys.platform, 'cost', jobId, state],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/v1/jobs/{job_id}/cost', { params: { path: { job_id: jobId } }, signal })),
    refetchInterval: state === 'RUNNING' ? 15_000 : false,
  });

/** What a job has used so far, and what that cost where the server has prices. */
export function JobCost({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const { data } = useQuery(costQuery(job.id, job.state));
  if (!data) return null;
  const used = say.hours(hours(data.cpu_hours), data.gpu_hours ? hours(data.gpu_hours) : '');
  return <span>{data.cost === null ? used : say.costOf(money(data.cost, data.currency), used)}</span>;
}

/** What a job would cost; nothing where the server has no prices. */
export function WouldCost({ cost }: { cost: Schemas['CostBody'] | null }) {
  const say = useWords(words);
  if (!cost) return null;
  const perHour = say.perHour(money(cost.per_hour, cost.currency));
  const atMost = cost.at_most === null ? '' : `${say.comma}${say.atMost(money(cost.at_most, cost.currency))}`;
  return <span className="quiet">{`${perHour}${atMost}`}</span>;
}
