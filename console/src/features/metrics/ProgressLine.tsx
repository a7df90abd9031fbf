import { Progress } from 'antd';
import type { Job } from '@/api/client';
import { useLanguage, useWords } from '@/i18n/language';
import { duration, FORMATS } from '@/messages/formats';
import { roughly } from './remaining';
import { words } from './words';

/** How far a running job is, where it tells that. */
export function ProgressLine({ job }: { job: Pick<Job, 'progress'> }) {
  const say = useWords(words);
  const { language } = useLanguage();
  const { progress } = job;
  if (!progress || progress.fraction === null) return null;
  const percent = Math.floor(progress.fraction * 100);
  const parts = [
    progress.step !== null &&
      progress.total_steps !== null &&
      say.stepOf(progress.step, progress.total_steps),
    progress.remaining_s !== null && say.left(duration(roughly(progress.remaining_s), FORMATS[language])),
  ];
  return (
    <div style={{ maxWidth: 480, marginTop: 8 }}>
      <Progress percent={percent} size="small" aria-label={say.progress(percent)} />
      <span className="quiet">{parts.filter(Boolean).join(' · ')}</span>
    </div>
  );
}
