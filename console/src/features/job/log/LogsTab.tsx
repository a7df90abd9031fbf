import {
  ClockCircleOutlined,
  DownloadOutlined,
  EnterOutlined,
  FullscreenExitOutlined,
  FullscreenOutlined,
  VerticalAlignBottomOutlined,
} from '@ant-design/icons';
import { getRouteApi } from '@tanstack/react-router';
import { Button, Select, Tooltip } from 'antd';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { download, type JobDetail } from '@/api/client';
import { useWords } from '@/i18n/language';
import { isFinal } from '@/ui/jobState';
import { useTell } from '@/ui/useTell';
import { words } from '../words';
import { AllLogs } from './AllLogs';
import styles from './log.module.css';
import { logPath } from './source';
import { useStamps } from './stamps';
import { TaskLog } from './TaskLog';
import { useWrap } from './useWrap';

const route = getRouteApi('/shell/jobs/$jobId');
const ALL = 'all';

/** The logs of a job: one task's, or all in one; which, is in the address. */
export function LogsTab({ job }: { job: JobDetail }) {
  const search = route.useSearch();
  const [isFull, setFull] = useState(false);
  const [isWrapped, turnWrap] = useWrap();
  const [isStamped, turnStamps] = useStamps();
  const frame = useTop();
  useEscape(isFull, () => setFull(false));
  const names = job.tasks.map((task) => task.name);
  const firstName = names[0] ?? '';
  const wanted = search.task ?? (names.length > 1 ? ALL : firstName);
  const task = wanted === ALL || names.includes(wanted) ? wanted : firstName;
  const given = Number(search.attempt ?? job.attempt);
  const attempt = Number.isInteger(given) && given >= 0 && given <= job.attempt ? given : job.attempt;
  const tools = (find: ReactNode, follow: () => void, isFollowing: boolean) => (
    <div className={styles.bar}>
      <Choices job={job} task={task} attempt={attempt} />
      {find}
      <div className={styles.right}>
        <FollowButton
          isLive={!isFinal(job.state) && attempt === job.attempt}
          isFollowing={isFollowing}
          onClick={follow}
        />
        <StampButton isStamped={isStamped} onClick={turnStamps} />
        <WrapButton isWrapped={isWrapped} onClick={turnWrap} />
        <DownloadButton job={job} task={task} attempt={attempt} />
        <FullButton isFull={isFull} onClick={() => setFull(!isFull)} />
      </div>
    </div>
  );
  return (
    <div ref={frame} className={styles.frame} data-full={isFull}>
      {task === ALL ? (
        <AllLogs
          key={attempt}
          job={job}
          attempt={attempt}
          isWrapped={isWrapped}
          isStamped={isStamped}
          tools={tools}
        />
      ) : (
        <TaskLog
          key={`${task} ${attempt}`}
          job={job}
          place={{ jobId: job.id, task, attempt }}
          isWrapped={isWrapped}
          isStamped={isStamped}
          tools={tools}
        />
      )}
    </div>
  );
}

/** Tell the styles of an element where on the page it begins, so that it can reach to the window's end. */
function useTop() {
  const frame = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = frame.current;
    const page = element?.closest('main');
    if (!element || !page) return;
    const measure = () => {
      // In full view it is elsewhere.
      if (element.dataset.full === 'true') return;
      const top = element.getBoundingClientRect().top + window.scrollY;
      element.style.setProperty('--log-top', `${Math.round(top)}px`);
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(page);
    return () => observer.disconnect();
  }, []);
  return frame;
}

function useEscape(isActive: boolean, leave: () => void) {
  useEffect(() => {
    if (!isActive) return;
    const listen = (event: KeyboardEvent) => event.key === 'Escape' && leave();
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [isActive, leave]);
}

function Choices({ job, task, attempt }: { job: JobDetail; task: string; attempt: number }) {
  const say = useWords(words);
  const navigate = route.useNavigate();
  const names = job.tasks.map((one) => one.name);
  const choose = (change: { task?: string; attempt?: string }) =>
    void navigate({ search: (now) => ({ ...now, ...change }), replace: true });
  return (
    <>
      {names.length > 1 && (
        <Select
          showSearch
          size="small"
          className={styles.task}
          aria-label={say.task}
          value={task}
          onChange={(value) => choose({ task: value })}
          options={[
            { value: ALL, label: say.allTasks },
            ...names.map((name) => ({ value: name, label: name })),
          ]}
        />
      )}
      {job.attempt > 0 && (
        <Select
          size="small"
          className={styles.attempt}
          aria-label={say.attempts}
          value={attempt}
          onChange={(value) => choose({ attempt: String(value) })}
          options={Array.from({ length: job.attempt + 1 }, (_, number) => ({
            value: number,
            label: say.attempt(number + 1),
          }))}
        />
      )}
    </>
  );
}

interface FollowButtonProps {
  isLive: boolean;
  isFollowing: boolean;
  onClick: () => void;
}

/** Back to the end of the log; of one that grows, to stay there. */
function FollowButton({ isLive, isFollowing, onClick }: FollowButtonProps) {
  const say = useWords(words);
  return (
    <Button
      size="small"
      type={isFollowing || !isLive ? 'text' : 'default'}
      icon={<VerticalAlignBottomOutlined aria-hidden />}
      aria-pressed={isLive ? isFollowing : undefined}
      onClick={onClick}
    >
      {isLive ? (isFollowing ? say.following : say.follow) : say.toEnd}
    </Button>
  );
}

function StampButton({ isStamped, onClick }: { isStamped: boolean; onClick: () => void }) {
  const say = useWords(words);
  return (
    <Tooltip title={isStamped ? say.unstamp : say.stamp}>
      <Button
        size="small"
        type="text"
        icon={<ClockCircleOutlined aria-hidden />}
        aria-label={say.stamp}
        aria-pressed={isStamped}
        className={isStamped ? styles.pressed : undefined}
        onClick={onClick}
      />
    </Tooltip>
  );
}

function WrapButton({ isWrapped, onClick }: { isWrapped: boolean; onClick: () => void }) {
  const say = useWords(words);
  return (
    <Tooltip title={isWrapped ? say.unwrap : say.wrap}>
      <Button
        size="small"
        type="text"
        icon={<EnterOutlined aria-hidden />}
        aria-label={say.wrap}
        aria-pressed={isWrapped}
        className={isWrapped ? styles.pressed : undefined}
        onClick={onClick}
      />
    </Tooltip>
  );
}

function DownloadButton({ job, task, attempt }: { job: JobDetail; task: string; attempt: number }) {
  const say = useWords(words);
  const { failed } = useTell();
  const path =
    task === ALL
      ? `/api/v1/jobs/${job.id}/logs/merged?attempt=${attempt}`
      : logPath({ jobId: job.id, task, attempt }, '/download');
  const label = task === ALL ? say.downloadAll : say.downloadLog;
  const fetchLog = () => download(path).catch(failed);
  return (
    <Tooltip title={label}>
      <Button
        size="small"
        type="text"
        icon={<DownloadOutlined aria-hidden />}
        aria-label={label}
        onClick={() => void fetchLog()}
      />
    </Tooltip>
  );
}

function FullButton({ isFull, onClick }: { isFull: boolean; onClick: () => void }) {
  const say = useWords(words);
  const label = isFull ? say.leaveFull : say.full;
  return (
    <Tooltip title={label}>
      <Button
        size="small"
        type="text"
        icon={isFull ? <FullscreenExitOutlined aria-hidden /> : <FullscreenOutlined aria-hidden />}
        aria-label={label}
        onClick={onClick}
      />
    </Tooltip>
  );
}
