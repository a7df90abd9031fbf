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
import { useLanguage, useWords } from '@/i18n/language';
import { bytes, number } from '@/ui/amounts';
import { detailOf } from '@/ui/Failure';
import { ReasonText } from '@/ui/Reason';
import { words as uiWords } from '@/ui/words';
import type { Problem } from './check';
import { type Json, type Path, parsePath } from './document';
import { labelOf } from './fieldWords';
import { useForm } from './form/context';
import { showSize } from './measures';
import { rolePaths } from './roles';
import styles from './submit.module.css';
import { words } from './words';

const N_SHOWN = 5;

interface ForecastProps {
  problems: readonly Problem[];
  forecast: Schemas['DryRun'] | undefined;
  refusal: Error | null;
  /** The text is no document now: what the form shows is not what would be submitted. */
  isBroken: boolean;
  isChecking: boolean;
  freeName: string | undefined;
  onGo: (path: string) => void;
}

/** Whether the job would start now; if not, why, and what would. */
export function Forecast(props: ForecastProps) {
  const { problems, forecast, refusal, isBroken, isChecking, freeName, onGo } = props;
  const say = useWords(words);
  const { reasons } = useWords(uiWords);
  const { change } = useForm();
  if (isBroken) return <Verdict tone="stop" icon={<EditOutlined aria-hidden />} title={say.mendFile} />;
  if (problems.length > 0) {
    return (
      <Verdict tone="stop" icon={<EditOutlined aria-hidden />} title={say.incomplete(problems.length)}>
        <ProblemList problems={problems} onGo={onGo} />
        {freeName && (
          <Button size="small" onClick={() => change(['name'], freeName)}>
            {say.take(freeName)}
          </Button>
        )}
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
  if (isChecking || !forecast)
    return <Verdict tone="wait" icon={<SyncOutlined aria-hidden />} title={say.checking} />;
  if (forecast.would_start) {
    return (
      <Verdict tone="good" icon={<CheckCircleOutlined aria-hidden />} title={say.wouldStart}>
        <ReasonText reason={forecast.reason} />
      </Verdict>
    );
  }
  return (
    <Verdict
      tone="busy"
      icon={<ClockCircleOutlined aria-hidden />}
      title={`${say.wouldWait}: ${reasons[forecast.reason.code]}`}
    >
      <ReasonText reason={forecast.reason} />
      <Nearest details={forecast.reason.details} />
    </Verdict>
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
  return (
    <ul className={styles.problems}>
      {problems.slice(0, N_SHOWN).map(({ path, message }) => (
        <li key={path}>
          <button type="button" className={styles.goTo} onClick={() => onGo(path)}>
            {placeOf(path, language)}
          </button>
          <span>{message}</span>
        </li>
      ))}
      {problems.length > N_SHOWN && <li className="quiet">{say.andMore(problems.length - N_SHOWN)}</li>}
    </ul>
  );
}

/** A field's label, with the path where the label alone could mean several. */
function placeOf(path: string, language: 'en' | 'zh'): string {
  const parts = parsePath(path);
  const label = labelOf(parts, language);
  return parts.length > 1 ? `${label} (${path})` : label;
}

/** The smaller ask that would start now: one press away. */
function Nearest({ details }: { details: { [name: string]: unknown } }) {
  const say = useWords(words);
  const ui = useWords(uiWords);
  const { doc, change } = useForm();
  const fit = details.would_fit as Record<string, number> | undefined;
  const [role] = rolePaths(doc);
  if (!fit || !role) return null;
  const offers = offersOf(fit, role, say, ui);
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

interface Offer {
  label: string;
  path: Path;
  value: Json;
}

type Words = (typeof words)['en'];
type UiWords = (typeof uiWords)['en'];

function offersOf(fit: Record<string, number>, role: Path, say: Words, ui: UiWords): Offer[] {
  const offers: Offer[] = [];
  const { gpus_per_task, milli_cpus_per_task, memory_bytes_per_task, tasks } = fit;
  const offer = (what: string, field: string, value: Json) =>
    offers.push({ label: say.instead(what), path: [...role, field], value });
  if (gpus_per_task) offer(say.each(ui.gpus(gpus_per_task)), 'gpus', gpus_per_task);
  if (milli_cpus_per_task) {
    const cpus = milli_cpus_per_task / 1000;
    offer(say.each(ui.cpus(number(cpus))), 'cpus', cpus);
  }
  if (memory_bytes_per_task) {
    // Rounded down to whole megabytes: what is offered must fit.
    const size = Math.floor(memory_bytes_per_task / 1024 ** 2);
    offer(
      say.each(bytes(size * 1024 ** 2)),
      'memory',
      size % 1024 === 0 ? showSize(size * 1024 ** 2) : `${size}MB`,
    );
  }
  if (tasks) offer(say.tasksOf(tasks), 'count', tasks);
  return offers;
}
