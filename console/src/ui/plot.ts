import { type RefObject, useEffect, useRef, useState } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Drawn {
  data: Plot.AlignedData;
  optionsOf: (width: number) => Plot.Options;
  heightOf: () => number;
}

interface Drawing {
  place: RefObject<HTMLDivElement | null>;
  plot: RefObject<Plot | null>;
  /** The place in the data that somebody points at. */
  pointed: number | null;
}

/** Draws in a place as wide as it is: anew when the shape changes, else only with other values. */
export function usePlot(shape: string, drawn: Drawn): Drawing {
  const [pointed, setPointed] = useState<number | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(null);
  const latest = useRef(drawn);
  latest.current = drawn;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shape is a new plot; values only fill it
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const options = latest.current.optionsOf(element.clientWidth);
    const setCursor = [
      ({ cursor }: Plot) => setPointed((cursor.left ?? -1) < 0 ? null : (cursor.idx ?? null)),
    ];
    const hooks = { ...options.hooks, setCursor };
    plot.current = new Plot({ ...options, hooks }, latest.current.data, element);
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: latest.current.heightOf() }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(drawn.data), [drawn.data]);
  return { place, plot, pointed };
}

/** The value of a line at a place, or the last before it: not every line has one everywhere. */
export function valueAt(values: readonly (number | null | undefined)[], place: number): number | null {
  for (let at = Math.min(place, values.length - 1); at >= 0; at--) {
    const value = values[at];
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** A colour of the theme that holds now. */
export const themeColor = (name: string) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** How the axes of all charts look. */
export const axisDress = () => ({
  stroke: themeColor('--text-3'),
  grid: { stroke: themeColor('--line'), width: 1 },
  ticks: { show: false },
  font: '12px system-ui',
});
