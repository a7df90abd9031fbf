import { useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useTheme } from '@/theme/theme';
import styles from './chart.module.css';

export interface Series {
  label: string;
  values: (number | null)[];
  /** A level to compare with, drawn dashed. */
  isBound?: boolean;
}

interface ChartProps {
  title: string;
  /** Seconds since 1970. */
  times: number[];
  series: Series[];
  show: (value: number) => string;
  /** The top of the scale; by the values when absent. */
  most?: number;
  /** Whether the scale steps in powers of two. */
  isBytes?: boolean;
}

const POWERS_OF_TWO = Array.from({ length: 60 }, (_, power) => 2 ** power);
const pad = (n: number) => String(n).padStart(2, '0');

/** The time of day; down to the second where the scale is that fine. */
function timeText(seconds: number, step: number): string {
  const date = new Date(seconds * 1000);
  const minutes = `${pad(date.getHours())}:${pad(date.getMinutes())}`;
  return step < 60 ? `${minutes}:${pad(date.getSeconds())}` : minutes;
}

const HEIGHT_PX = 180;
const COLORS = ['--accent', '--good'];

/** Values over time; the last of each are in words beside the title, for those who cannot see the lines. */
export function Chart({ title, times, series, show, most, isBytes }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const { isDark } = useTheme();
  const shape = JSON.stringify([series.map(({ label, isBound }) => [label, isBound]), most, isDark]);
  const plot = useRef<Plot>(null);
  const data: Plot.AlignedData = [times, ...series.map(({ values }) => values)];
  const latest = useRef({ data, series, show, most, isBytes });
  latest.current = { data, series, show, most, isBytes };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shape is a new plot; values only fill it
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    plot.current = new Plot(optionsOf(latest.current, element.clientWidth), latest.current.data, element);
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(data));
  return (
    <figure className={styles.chart}>
      <figcaption>
        <strong>{title}</strong>
        <span className={styles.last}>
          {series.map(({ label, values, isBound }, index) => (
            <span key={label}>
              <i
                className={styles.key}
                data-bound={isBound}
                style={{ borderColor: `var(${isBound ? '--text-3' : (COLORS[index] ?? '--accent')})` }}
              />
              {label} {lastOf(values, show)}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} />
    </figure>
  );
}

function lastOf(values: readonly (number | null)[], show: (value: number) => string): string {
  const last = values.findLast((value) => value !== null);
  return last === undefined || last === null ? '–' : show(last);
}

interface Shape {
  series: Series[];
  show: (value: number) => string;
  most?: number;
  isBytes?: boolean;
}

function optionsOf({ series, show, most, isBytes }: Shape, width: number): Plot.Options {
  const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = {
    stroke: color('--text-3'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  };
  const top = (max: number) => most ?? Math.max(max * 1.15, 1e-9);
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { points: { size: 6 }, y: false },
    scales: { y: { range: (_plot, _min, max) => [0, top(max)] } },
    axes: [
      {
        ...axis,
        size: 30,
        // Room for a time down to the second beside the next.
        space: 80,
        values: (_plot, splits, _axis, _space, step) => splits.map((at) => timeText(at, step)),
      },
      {
        ...axis,
        size: 78,
        incrs: isBytes ? POWERS_OF_TWO : undefined,
        values: (_plot, splits) => splits.map((value) => show(value)),
      },
    ],
    series: [
      {},
      ...series.map(({ label, isBound }, index) => ({
        label,
        stroke: color(isBound ? '--text-3' : (COLORS[index] ?? '--accent')),
        width: isBound ? 1 : 1.5,
        dash: isBound ? [5, 4] : undefined,
        fill: isBound || series.length > 2 || index > 0 ? undefined : `${color('--accent')}18`,
        points: { show: false },
      })),
    ],
  };
}
