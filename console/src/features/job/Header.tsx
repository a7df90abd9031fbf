import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { JobDetail } from '@/api/client';
import { sessionQuery } from '@/api/queries';
import { ProgressLine } from '@/features/metrics/ProgressLine';
import { ModelsOfJob } from '@/features/models/OfJob';
import { modelsQuery } from '@/features/models/queries';
import { words as modelWords } from '@/features/models/words';
import { JobCost } from '@/features/usage/JobCost';
import { words as usageWords } from '@/features/usage/words';
import { useWords } from '@/i18n/language';
import { aheadOf } from '@/ui/ahead';
import { bytes, useAmount } from '@/ui/amounts';
import { Copy } from '@/ui/Copy';
import { hasEnded, isKept, StateTag } from '@/ui/jobState';
import { ReasonText } from '@/ui/Reason';
import { mayFetch } from '@/ui/rights';
import { RunTime, TimeAgo } from '@/ui/time';
import { words as uiWords } from '@/ui/words';
import { Actions } from './Actions';
import styles from './job.module.css';
import { words } from './words';

const SAYS_ENOUGH = new Set(['running', 'completed', 'submitted']);

interface HeaderProps {
  job: JobDetail;
  asOf: number;
  /** Only what must be there: the rest of the page needs the room. */
  isShort: boolean;
}

/** What a job is and how it stands, with what can be done about it. */
export function Header({ job, asOf, isShort }: HeaderProps) {
  return (
    <div className={styles.header}>
      <div className={styles.titleLine}>
        <h1 className={styles.title}>{job.name}</h1>
        <StateTag state={job.state} isKept={isKept(job)} />
        <Actions job={job} />
      </div>
      {!isShort && job.description && <p className={styles.description}>{job.description}</p>}
      <ReasonLine job={job} />
      <ProgressLine job={job} />
      {!isShort && <Facts job={job} asOf={asOf} />}
    </div>
  );
}

/** Why the job is in its state: short in the reader's language, whole in the server's words. */
function ReasonLine({ job }: { job: JobDetail }) {
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  const { code } = job.reason;
  if (SAYS_ENOUGH.has(code)) return null;
  const nAhead = aheadOf(job);
  const saysWhoIsAhead = Number(job.reason.details.ahead) > 0;
  const tone = job.state === 'FAILED' || code === 'kept' || code === 'hang' ? 'bad' : 'plain';
  return (
    <div className={styles.reason} data-tone={tone}>
      <strong>{reasons[code]}</strong>
      <ReasonText reason={job.reason} />
      {nAhead !== null && !saysWhoIsAhead && <span className="quiet">{say.ahead(nAhead)}</span>}
      {job.estimate && (job.estimate.expected_at ?? job.estimate.latest_at) && (
        <span className="quiet">
          {say.expected} <TimeAgo at={job.estimate.expected_at ?? job.estimate.latest_at} />
          {job.estimate.expected_at === null && ` (${say.latest})`}
        </span>
      )}
    </div>
  );
}

/** Each tag leads to the jobs that have it. */
function Tags({ tags }: { tags: readonly string[] }) {
  return tags.map((tag, index) => (
    <span key={tag}>
      {index > 0 && ', '}
      <Link to="/jobs" search={{ tag }}>
        {tag}
      </Link>
    </span>
  ));
}

/** What a job asks to have installed, in a word; undefined where nothing is. */
function packagesOf(config: JobDetail['config']): string | undefined {
  const { environment } = config as { environment?: Record<string, unknown> | string | null };
  if (typeof environment === 'string') return environment;
  const asked = environment?.requirements ?? environment?.pyproject ?? environment?.conda;
  if (typeof asked === 'string') return asked;
  return Array.isArray(asked) && asked.length > 0 ? String(asked[0]) : undefined;
}

function Packages({ jobId, what }: { jobId: string; what: string }) {
  return (
    <Link to="/environments" search={{ job: jobId }}>
      {what}
    </Link>
  );
}

/** Where results are kept, and how far that is. */
function Results({ results }: { results: NonNullable<JobDetail['results']> }) {
  const say = useWords(words);
  return (
    <span>
      <Link to="/files" search={{ storage: results.storage, path: results.path }}>
        {`${results.storage}:${results.path}`}
      </Link>{' '}
      {results.error ? (
        <strong>{say.resultsDelayed}</strong>
      ) : (
        <span className="quiet">
          {results.saved_at === null
            ? say.resultsWait
            : say.resultsSaved(results.n_files, bytes(results.size_bytes))}
        </span>
      )}
    </span>
  );
}

function Facts({ job, asOf }: { job: JobDetail; asOf: number }) {
  const say = useWords(words);
  const modelSay = useWords(modelWords);
  const usageSay = useWords(usageWords);
  const amount = useAmount();
  const { data: me } = useQuery(sessionQuery);
  const { data: models } = useQuery({ ...modelsQuery({ job: job.id }), enabled: job.started_at !== null });
  const hasModels = (models?.items.length ?? 0) > 0;
  const facts: [string, ReactNode][] = [
    [
      say.id,
      <span key="id" className={styles.id}>
        <span className="mono">{job.id}</span>
        <Copy text={job.id} />
      </span>,
    ],
    [say.queue, job.queue],
    [say.owner, job.is_shared ? say.sharedBy(job.owner) : job.owner],
    [say.resources, amount(job.resources)],
    [say.submitted, <TimeAgo key="at" at={job.submitted_at} />],
    [say.runTime, <RunTime key="run" seconds={job.run_time_s} asOf={asOf} isOver={hasEnded(job)} />],
  ];
  if (job.finished_at !== null) facts.push([say.ended, <TimeAgo key="end" at={job.finished_at} />]);
  if (job.retry > 0 || job.attempt > 0)
    facts.push([say.attempts, say.attemptOf(job.attempt + 1, job.retry + 1)]);
  const packages = packagesOf(job.config);
  if (packages) facts.push([say.packages, <Packages key="packages" jobId={job.id} what={packages} />]);
  if (job.results) facts.push([say.results, <Results key="results" results={job.results} />]);
  else if (job.started_at !== null && mayFetch(me, job))
    facts.push([
      say.results,
      <Link key="output" to="/files" search={{ job: job.id }}>
        {say.resultsHere}
      </Link>,
    ]);
  if (job.started_at !== null && job.is_readable)
    facts.push([usageSay.used, <JobCost key="cost" job={job} />]);
  if (hasModels) facts.push([modelSay.ofJob, <ModelsOfJob key="models" job={job} />]);
  if (job.priority !== 0) facts.push([say.priority, job.priority]);
  if (job.tags.length > 0) facts.push([say.tags, <Tags key="tags" tags={job.tags} />]);
  if (job.kept_until !== null) facts.push([say.keptUntil, <TimeAgo key="kept" at={job.kept_until} />]);
  return (
    <dl className={styles.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
