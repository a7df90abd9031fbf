import { useWords } from '@/i18n/language';
import { number } from './amounts';
import styles from './usebar.module.css';
import { words } from './words';

interface UseBarProps {
  label: string;
  used: number;
  total: number;
  /** Of a queue: what its jobs go first with. What they hold beyond it is borrowed. */
  share?: number;
  /** Writes both numbers; `3 / 8` unless told. */
  show?: (used: number, total: number) => string;
  /** Writes one number. */
  showOne?: (amount: number) => string;
}

const plainly = (used: number, total: number) => `${number(used)} / ${number(total)}`;

/** How much of something is taken, as a bar with its numbers; a tick marks the share, what is borrowed is hatched. */
export function UseBar({ label, used, total, share, show = plainly, showOne = number }: UseBarProps) {
  const say = useWords(words);
  const most = Math.max(total, share ?? 0);
  const part = (amount: number) => `${most > 0 ? Math.min(1, amount / most) * 100 : 0}%`;
  const borrowed = share === undefined ? 0 : Math.max(0, used - share);
  const text = show(used, total);
  const ofShare = [share && say.share(showOne(share)), borrowed && say.borrowed(showOne(borrowed))]
    .filter(Boolean)
    .join(' · ');
  return (
    <div className={styles.use}>
      <div className={styles.text}>
        <span>{label}</span>
        <span className="number">{text}</span>
      </div>
      <div
        role="meter"
        className={styles.bar}
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(total, used)}
        aria-valuenow={used}
        aria-valuetext={ofShare ? `${text}, ${ofShare}` : text}
      >
        <div
          className={styles.fill}
          data-full={most > 0 && used / most > 0.9}
          style={{ width: part(used) }}
        />
        {borrowed > 0 && (
          <div
            className={styles.borrowed}
            style={{ left: part(share ?? 0), width: `calc(${part(used)} - ${part(share ?? 0)})` }}
          />
        )}
        {share !== undefined && share > 0 && <div className={styles.tick} style={{ left: part(share) }} />}
      </div>
      {ofShare && <div className={styles.share}>{ofShare}</div>}
    </div>
  );
}
