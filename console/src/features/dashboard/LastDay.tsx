import { useQuery } from '@tanstack/react-query';
import type { Schemas } from '@/api/client';
import { historyQuery } from '@/api/queries';
import { useWords } from '@/i18n/language';
import styles from './dashboard.module.css';
import { words } from './words';

type History = Schemas['HistoryBody'];
type Kind = 'cpus' | 'memory_bytes' | 'gpus';

const WIDTH = 288;
const HEIGHT = 32;

/** How much of it was taken in the last 24 hours, quarter of an hour by quarter. */
export function LastDay({ kind }: { kind: Kind }) {
  const say = useWords(words);
  const { data } = useQuery(historyQuery);
  if (!data) return null;
  const parts = partsOf(data, kind);
  const known = parts.filter((part) => part !== undefined);
  const mean = percent(known.reduce((sum, part) => sum + part, 0) / Math.max(1, known.length));
  const most = percent(Math.max(0, ...known));
  const labels = { cpus: say.cpus, memory_bytes: say.memory, gpus: say.gpus };
  const told = say.dayInWords(labels[kind], mean, most);
  return (
    <figure className={styles.sparkline}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={told}>
        <title>{told}</title>
        <path d={areaOf(parts)} className={styles.sparkArea} />
      </svg>
      <figcaption>
        <span>{say.lastDay}</span>
        <span className="number">{say.meanOfDay(mean)}</span>
      </figcaption>
    </figure>
  );
}

/** Whole percents; what is less than one was not nothing. */
const percent = (part: number) => (part > 0 && part < 0.01 ? '<1' : String(Math.round(100 * part)));

/** What was taken in each step, of all that there is now; undefined where nobody has counted. */
export function partsOf({ points, total }: Pick<History, 'points' | 'total'>, kind: Kind) {
  const all = total[kind] ?? 0;
  return points.map((point) => (point && all > 0 ? Math.min(1, point[kind] / all) : undefined));
}

/** The area below the line, in steps: each is an average, and nothing is known of what is between. */
export function areaOf(parts: readonly (number | undefined)[]): string {
  const step = WIDTH / Math.max(1, parts.length);
  const place = (value: number) => Number(value.toFixed(2));
  return parts
    .map((part, index) => {
      if (!part) return '';
      const height = Math.max(1, part * HEIGHT);
      return `M${place(index * step)} ${HEIGHT}v${place(-height)}h${place(step)}V${HEIGHT}z`;
    })
    .join('');
}
