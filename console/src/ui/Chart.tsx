import { useMemo } from 'react';
import type Plot from 'uplot';
import { useTheme } from '@/theme/theme';
import styles from './chart.module.css';
import { axisDress, themeColor, usePlot, valueAt } from './plot';

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

/** Values over time; beside the title are those that somebody points at, else the last ones. */
export function Chart({ title, times, series, show, most, isBytes }: ChartProps) {
  const { isDark } = useTheme();
  const shape = JSON.stringify([series.map(({ label, isBound }) => [label, isBound]), most, isDark]);
  const data = useMemo<Plot.AlignedData>(
    () => [times, ...series.map(({ values }) => values)],
    [times, series],
  );
  const { place, pointed } = usePlot(shape, {
    data,
    optionsOf: (width) => optionsOf({ series, show, most, isBytes }, width),
    heightOf: () => HEIGHT_PX,
  });
  return (
    <figure className={styles.chart}>
      <figcaption>
        <strong>{title}</strong>
        <span className={styles.last}>
          {pointed !== null && pointed < times.length && <span>{timeText(times[pointed] ?? 0, 1)}</span>}
          {series.map(({ label, values, isBound }, index) => (
            <span key={label}>
              <i
                className={styles.key}
                data-bound={isBound}
                style={{ borderColor: `var(${isBound ? '--text-3' : (COLORS[index] ?? '--accent')})` }}
              />
              {label} {told(valueAt(values, pointed ?? values.length - 1), show)}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} />
    </figure>
  );
}

const told = (value: number | null, show: (value: number) => string) => (value === null ? '–' : show(value));

interface Shape {
  series: Series[];
  show: (value: number) => string;
  most?: number;
  isBytes?: boolean;
}

function optionsOf({ series, show, most, isBytes }: Shape, width: number): Plot.Options {
  const axis = axisDress();
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
        stroke: themeColor(isBound ? '--text-3' : (COLORS[index] ?? '--accent')),
        width: isBound ? 1 : 1.5,
        dash: isBound ? [5, 4] : undefined,
        fill: isBound || series.length > 2 || index > 0 ? undefined : `${themeColor('--accent')}18`,
        points: { show: false },
      })),
    ],
  };
}
