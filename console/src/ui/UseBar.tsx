import { number } from './amounts';
import styles from './usebar.module.css';

interface UseBarProps {
  label: string;
  used: number;
  total: number;
  /** Writes both numbers; `3 / 8` unless told. */
  show?: (used: number, total: number) => string;
}

const plainly = (used: number, total: number) => `${number(used)} / ${number(total)}`;

/** How much of something is taken, as a bar with its numbers. */
export function UseBar({ label, used, total, show = plainly }: UseBarProps) {
  const share = total > 0 ? Math.min(1, used / total) : 0;
  const text = show(used, total);
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
        aria-valuetext={text}
      >
        <div className={styles.fill} data-full={share > 0.9} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
