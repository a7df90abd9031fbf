import type { Schemas } from '@/api/client';
import { useWords } from '@/i18n/language';
import { bytes, number } from './amounts';
import { Chart, type Series } from './Chart';
import styles from './chart.module.css';
import { words } from './usageWords';

type Point = Schemas['UsagePoint'];

interface UsageChartsProps {
  points: readonly Point[];
  /** A level to compare with: what was asked for, or what there is. */
  most?: { cpus?: number; memory_bytes?: number };
  isNode?: boolean;
  /** Only what cards have. */
  isCard?: boolean;
}

const rate = (value: number) => `${bytes(value)}/s`;
const share = (value: number) => `${Math.round(value * 100)} %`;
const watts = (value: number) => `${Math.round(value)} W`;

/** What a task or a node uses over time; what cannot be measured has no chart. */
export function UsageCharts({ points, most, isNode = false, isCard = false }: UsageChartsProps) {
  const say = useWords(words);
  const times = points.map((point) => Date.parse(point.at) / 1000);
  const of = (label: string, pick: (point: Point) => number | null): Series => ({
    label,
    values: points.map(pick),
  });
  const level = (value: number | undefined): Series[] =>
    value === undefined
      ? []
      : [{ label: isNode ? say.there : say.asked, values: points.map(() => value), isBound: true }];
  const has = (pick: (point: Point) => number | null) => points.some((point) => pick(point) !== null);
  return (
    <div className={styles.charts}>
      {!isCard && (
        <>
          <Chart
            title={say.cpu}
            times={times}
            show={number}
            series={[of(say.used, (p) => p.cpus), ...level(most?.cpus)]}
          />
          <Chart
            title={say.memory}
            times={times}
            isBytes
            show={bytes}
            series={[of(say.used, (p) => p.memory_bytes), ...level(most?.memory_bytes)]}
          />
        </>
      )}
      {has((p) => p.gpu_utilisation) && (
        <Chart
          title={say.gpu}
          times={times}
          show={share}
          most={1}
          series={[of(say.used, (p) => p.gpu_utilisation)]}
        />
      )}
      {has((p) => p.gpu_memory_bytes) && (
        <Chart
          title={say.gpuMemory}
          times={times}
          isBytes
          show={bytes}
          series={[of(say.used, (p) => p.gpu_memory_bytes)]}
        />
      )}
      {has((p) => p.power_w) && (
        <Chart title={say.power} times={times} show={watts} series={[of(say.used, (p) => p.power_w)]} />
      )}
      {has((p) => p.read_bytes_s) && (
        <Chart
          title={say.disk}
          times={times}
          isBytes
          show={rate}
          series={[of(say.read, (p) => p.read_bytes_s), of(say.written, (p) => p.written_bytes_s)]}
        />
      )}
      {has((p) => p.received_bytes_s) && (
        <Chart
          title={say.network}
          times={times}
          isBytes
          show={rate}
          series={[of(say.received, (p) => p.received_bytes_s), of(say.sent, (p) => p.sent_bytes_s)]}
        />
      )}
    </div>
  );
}
