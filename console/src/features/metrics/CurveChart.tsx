import { DownloadOutlined, FullscreenOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useMemo, useRef } from 'react';
import type Plot from 'uplot';
import { useWords } from '@/i18n/language';
import { useTheme } from '@/theme/theme';
import { axisDress, usePlot, valueAt } from '@/ui/plot';
import { type Axis, aligned, type Line, short } from './curves';
import styles from './metrics.module.css';
import { words } from './words';

export type Range = [number, number] | null;

interface CurveChartProps {
  title: string;
  lines: readonly Line[];
  axis: Axis;
  smoothing: number;
  isLog: boolean;
  onZoom: (range: Range) => void;
}

const HEIGHT_PX = 240;
const COLORS = ['#3b6ef5', '#e8710a', '#12935f', '#c2255c', '#7c4dff', '#00859b', '#a86c00', '#6b7280'];
const MOST_NAMED = 12;

/**
 * Curves over steps, epochs or time, with the values that somebody points at, else the last ones.
 *
 * A dragged part is looked at more closely; a double click shows all again.
 */
export function CurveChart({ title, lines, axis, smoothing, isLog, onZoom }: CurveChartProps) {
  const say = useWords(words);
  const figure = useRef<HTMLElement>(null);
  const { isDark } = useTheme();
  const zoom = useRef(onZoom);
  zoom.current = onZoom;
  const data = useMemo(() => aligned(lines, smoothing), [lines, smoothing]);
  const { place, plot, pointed } = usePlot(
    JSON.stringify([lines.map(({ label }) => label), axis, isLog, isDark]),
    {
      data: data as Plot.AlignedData,
      optionsOf: (width) => optionsOf(lines, axis, isLog, width, (range) => zoom.current(range)),
      heightOf: () => (document.fullscreenElement === figure.current ? window.innerHeight - 140 : HEIGHT_PX),
    },
  );
  const at = pointed === null ? undefined : data[0][pointed];
  const told = (index: number) =>
    at === undefined ? lines[index]?.last : valueAt(data[index + 1] ?? [], pointed ?? 0);
  return (
    <figure className={styles.chart} ref={figure} aria-label={title}>
      <figcaption>
        <span>
          <strong>{title}</strong> <span className="quiet">{at !== undefined && say.at[axis](at)}</span>
        </span>
        <span className={styles.tools}>
          <Button
            type="text"
            size="small"
            icon={<FullscreenOutlined aria-hidden />}
            aria-label={say.whole(title)}
            onClick={() => void figure.current?.requestFullscreen()}
          />
          <Button
            type="text"
            size="small"
            icon={<DownloadOutlined aria-hidden />}
            aria-label={say.picture(title)}
            onClick={() => savePicture(plot.current, title, lines)}
          />
        </span>
      </figcaption>
      <div ref={place} />
      <ul className={styles.names}>
        {lines.slice(0, MOST_NAMED).map(({ label }, index) => (
          <li key={label}>
            <i style={{ borderColor: colorOf(index) }} />
            {label} <b>{shortOrNone(told(index))}</b>
          </li>
        ))}
        {lines.length > MOST_NAMED && <li>{say.more(lines.length - MOST_NAMED)}</li>}
      </ul>
    </figure>
  );
}

const shortOrNone = (value: number | null | undefined) => (value == null ? '–' : short(value));
const colorOf = (index: number) => COLORS[index % COLORS.length] ?? '';

function optionsOf(
  lines: readonly Line[],
  axis: Axis,
  isLog: boolean,
  width: number,
  zoom: (range: Range) => void,
): Plot.Options {
  const dress = axisDress();
  return {
    width,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: true, y: false, setScale: false } },
    scales: { x: { time: axis === 'time' }, y: isLog ? { distr: 3 } : {} },
    axes: [
      { ...dress, size: 30, space: 70 },
      {
        ...dress,
        size: 70,
        values: (_plot, splits) => splits.map((value) => (value === null ? '' : short(value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ label }, index) => ({
        label,
        stroke: colorOf(index),
        width: 1.5,
        spanGaps: true,
        points: { show: lines.every(({ x }) => x.length < 2) },
      })),
    ],
    hooks: {
      setSelect: [
        (drawn: Plot) => {
          if (drawn.select.width < 4) return;
          const { left, width: wide } = drawn.select;
          zoom([drawn.posToVal(left, 'x'), drawn.posToVal(left + wide, 'x')]);
          drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
      ready: [(drawn: Plot) => drawn.over.addEventListener('dblclick', () => zoom(null))],
    },
  };
}

/** Save what is drawn, with its title and the names of its lines, on the ground of the page. */
function savePicture(plot: Plot | null, title: string, lines: readonly Line[]): void {
  const drawn = plot?.root.querySelector('canvas');
  if (!drawn) return;
  const ratio = devicePixelRatio;
  const row = 20 * ratio;
  const canvas = document.createElement('canvas');
  const named = lines.slice(0, MOST_NAMED);
  canvas.width = drawn.width;
  canvas.height = drawn.height + row * (named.length + 2);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  const style = getComputedStyle(document.documentElement);
  pen.fillStyle = style.getPropertyValue('--surface');
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = style.getPropertyValue('--text');
  pen.font = `bold ${14 * ratio}px system-ui`;
  pen.fillText(title, 10 * ratio, row);
  pen.drawImage(drawn, 0, row * 1.5);
  pen.font = `${12 * ratio}px system-ui`;
  for (const [index, { label }] of named.entries()) {
    pen.fillStyle = colorOf(index);
    pen.fillText(`— ${label}`, 10 * ratio, row * 2 + drawn.height + row * index);
  }
  const link = document.createElement('a');
  link.href = canvas.toDataURL('image/png');
  link.download = `${title.replaceAll('/', '-')}.png`;
  link.click();
}
