import { Link } from '@tanstack/react-router';
import { useWords } from '@/i18n/language';
import { useAmount } from '@/ui/amounts';
import { CheckBox } from '@/ui/CheckBox';
import { hasEnded, isKept, StateTag } from '@/ui/jobState';
import { RunTime, TimeAgo } from '@/ui/time';
import { type ListProps, Privacy, toggled, Why } from './JobTable';
import styles from './jobs.module.css';
import { words } from './words';

/** The list on a narrow screen: a card for each job. */
export function JobCards({ jobs, asOf, isTrash, selected, onSelect }: ListProps) {
  const say = useWords(words);
  const amount = useAmount();
  return (
    <ul className={styles.cards}>
      {jobs.map((job) => (
        <li key={job.id} className={styles.card} data-selected={selected.has(job.id)}>
          <CheckBox
            label={say.select(job.name)}
            isChecked={selected.has(job.id)}
            onChange={() => onSelect(toggled(selected, job.id))}
          />
          <div className={styles.cardText}>
            <Link to="/jobs/$jobId" params={{ jobId: job.id }} className={styles.cardName} title={job.name}>
              {job.name}
            </Link>
            <Privacy job={job} />
            <div className={styles.under}>
              {job.owner} · {job.queue} · {amount(job.resources)}
            </div>
            <Why job={job} />
          </div>
          <div className={styles.cardSide}>
            <StateTag state={job.state} isKept={isKept(job)} />
            <div className={styles.under}>
              {isTrash || job.run_time_s === null ? (
                <TimeAgo at={isTrash ? job.deleted_at : job.submitted_at} />
              ) : (
                <RunTime seconds={job.run_time_s} asOf={asOf} isOver={hasEnded(job)} />
              )}
            </div>
          </div>
        </li>
      ))}
    </ul>
  );
}
