import {
  CheckCircleOutlined,
  ClockCircleOutlined,
  CloseCircleOutlined,
  EditOutlined,
  SyncOutlined,
} from '@ant-design/icons';
import { Button } from 'antd';
import type { ReactNode } from 'react';
import type { Schemas } from '@/api/client';
import { WouldCost } from '@/features/usage/JobCost';
import { useLanguage, useWords } from '@/i18n/language';
import { bytes, number } from '@/ui/amounts';
import { ReasonText } from '@/ui/Reason';
import { Remedy } from '@/ui/Remedy';
import { TimeAgo } from '@/ui/time';
import { useDetail, useTold } from '@/ui/told';
import { words as uiWords } from '@/ui/words';
import type { Problem } from './check';
import { parsePath } from './document';
import { useForm } from './form/context';
import { type Offer, offersOf, type WouldFit } from './offers';
import { placeOf } from './places';
import styles from './submit.module.css';
import { isAway } from './useDryRun';
import { words } from './words';

const N_SHOWN = 5;

interface DryRunProps {
  problems: readonly Problem[];
  dryRun: Schemas['DryRun'] | undefined;
  refusal: Error | null;
  /** The text is no document now: what the form shows is not what would be submitted. */
  isBroken: boolean;
  isChecking: boolean;
  freeName: string | undefined;
  onGo: (path: string) => void;
}

/** Whether the job would start now; if not, why, and what would. */
export function DryRun(props: DryRunProps) {
  const { problems, dryRun, refusal, isBroken, isChecking, freeName, onGo } = props;
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  const { change } = useForm();
  const detailOf = useDetail();
  if (isBroken) return <Verdict tone="stop" icon={<EditOutlined aria-hidden />} title={say.mendFile} />;
  if (problems.length > 0) {
    // What nobody has come to yet is no mistake.
    const isUnfinished = problems.every(({ isMissing }) => isMissing);
    const title = isUnfinished ? say.toFill(problems.length) : say.incomplete(problems.length);
    return (
      <Verdict tone={isUnfinished ? 'wait' : 'stop'} icon={<EditOutlined aria-hidden />} title={title}>
        <ProblemList problems={problems} onGo={onGo} />
        {isUnfinished && dryRun && <Early dryRun={dryRun} />}
        {freeName && (
          <Button size="small" onClick={() => change(['name'], freeName)}>
            {say.take(freeName)}
          </Button>
        )}
      </Verdict>
    );
  }
  if (isAway(refusal)) {
    return (
      <Verdict tone="wait" icon={<SyncOutlined aria-hidden />} title={say.away}>
        {say.awayHint}
      </Verdict>
    );
  }
  if (refusal) {
    return (
      <Verdict tone="bad" icon={<CloseCircleOutlined aria-hidden />} title={say.refused}>
        {detailOf(refusal)}
      </Verdict>
    );
  }
  if (isChecking || !dryRun)
    return <Verdict tone="wait" icon={<SyncOutlined aria-hidden />} title={say.checking} />;
  if (dryRun.would_start) {
    return (
      <Verdict tone="good" icon={<CheckCircleOutlined aria-hidden />} title={say.wouldStart}>
        <ReasonText reason={dryRun.reason} />
      </Verdict>
    );
  }
  return (
    <Verdict
      tone="busy"
      icon={<ClockCircleOutlined aria-hidden />}
      title={say.wouldWait(reasons[dryRun.reason.code])}
    >
      <ReasonText reason={dryRun.reason} />
      <Expected estimate={dryRun.estimate} />
      <WouldCost cost={dryRun.cost} />
      <Nearest details={dryRun.reason.details} />
    </Verdict>
  );
}

/** What can be said of the resources while the rest is still to be typed. */
function Early({ dryRun }: { dryRun: Schemas['DryRun'] }) {
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  return (
    <div className={styles.early}>
      <strong>{dryRun.would_start ? say.fitsNow : say.fitsLater(reasons[dryRun.reason.code])}</strong>
      <WouldCost cost={dryRun.cost} />
      {!dryRun.would_start && (
        <>
          <Expected estimate={dryRun.estimate} />
          <Nearest details={dryRun.reason.details} />
        </>
      )}
    </div>
  );
}

/** When a job that waits would start, or why nobody knows. */
export function Expected({ estimate }: { estimate: Schemas['EstimateBody'] | null }) {
  const say = useWords(words);
  const told = useTold();
  if (!estimate) return null;
  const at = estimate.expected_at ?? estimate.latest_at;
  if (at === null) return <span className="quiet">{told(estimate.basis)}</span>;
  return (
    <span title={told(estimate.basis)}>
      {estimate.expected_at === null ? say.startsLatest : say.startsAbout} <TimeAgo at={at} />
    </span>
  );
}

interface VerdictProps {
  tone: string;
  icon: ReactNode;
  title: string;
  children?: ReactNode;
}

function Verdict({ tone, icon, title, children }: VerdictProps) {
  return (
    <div className={styles.verdict} data-tone={tone} aria-live="polite">
      <div className={styles.verdictTitle}>
        {icon}
        {title}
      </div>
      {children && <div className={styles.verdictText}>{children}</div>}
    </div>
  );
}

function ProblemList({ problems, onGo }: { problems: readonly Problem[]; onGo: (path: string) => void }) {
  const say = useWords(words);
  const { language } = useLanguage();
  const { doc } = useForm();
  return (
    <ul className={styles.problems}>
      {problems.slice(0, N_SHOWN).map(({ path, message, code }) => (
        <li key={path}>
          <button type="button" className={styles.goTo} onClick={() => onGo(path)}>
            {placeOf(parsePath(path), doc, language)}
          </button>
          <span>{message}</span> <Remedy code={code} />
        </li>
      ))}
      {problems.length > N_SHOWN && <li className="quiet">{say.andMore(problems.length - N_SHOWN)}</li>}
    </ul>
  );
}

/** The smaller ask that would start now: one press away. */
function Nearest({ details }: { details: { [name: string]: unknown } }) {
  const say = useWords(words);
  const { doc, change } = useForm();
  const ui = useWords(uiWords);
  const offers = offersOf(details.would_fit as WouldFit | undefined, doc).map((offer) => ({
    ...offer,
    label: say.instead(labelOfOffer(offer, say, ui)),
  }));
  if (offers.length === 0) return null;
  return (
    <div className={styles.nearest}>
      <span>{say.nearest}</span>
      {offers.map(({ label, path, value }) => (
        <Button key={label} size="small" onClick={() => change(path, value)}>
          {label}
        </Button>
      ))}
    </div>
  );
}

type Words = (typeof words)['en'];
type UiWords = (typeof uiWords)['en'];

function labelOfOffer({ kind, value, amount, role }: Offer, say: Words, ui: UiWords): string {
  const inRole = (what: string) => (role === undefined ? what : say.inRole(what, role));
  switch (kind) {
    case 'gpus':
      return inRole(say.each(ui.gpus(amount)));
    case 'cpus':
      return inRole(say.each(ui.cpus(number(amount))));
    case 'memory':
      return inRole(say.each(bytes(amount)));
    case 'tasks':
      return inRole(say.tasksOf(amount));
    case 'time_limit':
      return say.timeLimitOf(String(value));
  }
}
