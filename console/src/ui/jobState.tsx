import {
  CheckCircleOutlined,
  ClockCircleOutlined,
  CloseCircleOutlined,
  LoadingOutlined,
  MinusCircleOutlined,
  PauseCircleOutlined,
  PlayCircleOutlined,
  QuestionCircleOutlined,
  RocketOutlined,
} from '@ant-design/icons';
import type { ReactNode } from 'react';
import type { JobState, TaskState } from '@/api/client';
import { useWords } from '@/i18n/language';
import styles from './state.module.css';
import { words } from './words';

export type Tone = 'wait' | 'start' | 'busy' | 'stop' | 'good' | 'bad' | 'muted';

interface Appearance {
  tone: Tone;
  icon: ReactNode;
  isFinal: boolean;
}

/** How each state looks; one that the API adds and this table lacks does not compile. */
export const JOB_STATES: Record<JobState, Appearance> = {
  QUEUED: { tone: 'wait', icon: <ClockCircleOutlined aria-hidden />, isFinal: false },
  STARTING: { tone: 'start', icon: <RocketOutlined aria-hidden />, isFinal: false },
  RUNNING: { tone: 'busy', icon: <PlayCircleOutlined aria-hidden />, isFinal: false },
  STOPPING: { tone: 'stop', icon: <PauseCircleOutlined aria-hidden />, isFinal: false },
  SUCCEEDED: { tone: 'good', icon: <CheckCircleOutlined aria-hidden />, isFinal: true },
  FAILED: { tone: 'bad', icon: <CloseCircleOutlined aria-hidden />, isFinal: true },
  STOPPED: { tone: 'muted', icon: <MinusCircleOutlined aria-hidden />, isFinal: true },
};

export const ALL_STATES = Object.keys(JOB_STATES) as JobState[];
export const isFinal = (state: JobState) => JOB_STATES[state].isFinal;

/** A job that failed and whose environment is kept: nothing runs there any more. */
export const isKept = (job: { kept_until: string | null }) => job.kept_until !== null;

/** Whether a job's time goes on. */
export const hasEnded = (job: { state: JobState; kept_until: string | null }) =>
  isFinal(job.state) || isKept(job);

const TASK_STATES: Record<TaskState, { tone: Tone; icon: ReactNode }> = {
  WAITING: { tone: 'wait', icon: <ClockCircleOutlined aria-hidden /> },
  STARTING: { tone: 'start', icon: <LoadingOutlined aria-hidden /> },
  RUNNING: { tone: 'busy', icon: <PlayCircleOutlined aria-hidden /> },
  EXITED: { tone: 'muted', icon: <MinusCircleOutlined aria-hidden /> },
  LOST: { tone: 'bad', icon: <QuestionCircleOutlined aria-hidden /> },
};

export function StateTag({ state, isKept = false }: { state: JobState; isKept?: boolean }) {
  const say = useWords(words);
  const { tone, icon } = JOB_STATES[isKept ? 'FAILED' : state];
  return (
    <Pill tone={tone} icon={icon}>
      {isKept ? say.keptState : say.states[state]}
    </Pill>
  );
}

interface TaskStateProps {
  state: TaskState;
  exitCode: number | null;
  /** It ended because it was told to: neither good nor bad. */
  isStopped?: boolean;
}

/** A task's state; one that exited by itself is good or bad by its exit code. */
export function TaskStateTag({ state, exitCode, isStopped = false }: TaskStateProps) {
  const say = useWords(words);
  const { tone, icon } = TASK_STATES[state];
  if (state === 'EXITED' && exitCode !== null) {
    const ended: JobState = exitCode === 0 ? 'SUCCEEDED' : isStopped ? 'STOPPED' : 'FAILED';
    return (
      <Pill tone={JOB_STATES[ended].tone} icon={JOB_STATES[ended].icon}>
        {say.tasks[state]} {exitCode}
      </Pill>
    );
  }
  return (
    <Pill tone={tone} icon={icon}>
      {say.tasks[state]}
    </Pill>
  );
}

/** A word with a tone and a sign, so that colour is never all there is. */
export function Pill({ tone, icon, children }: { tone: Tone; icon?: ReactNode; children: ReactNode }) {
  return (
    <span className={styles.pill} data-tone={tone}>
      {icon}
      {children}
    </span>
  );
}
