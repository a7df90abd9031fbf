import { type RefObject, useEffect, useRef } from 'react';
import Plot from 'uplot';
import 'uplot/dist/uPlot.min.css';

interface Drawn {
  data: Plot.AlignedData;
  optionsOf: (width: number) => Plot.Options;
  heightOf: () => number;
}

/** Draws in a place as wide as it is: anew when the shape changes, else only with other values. */
export function usePlot(
  shape: string,
  drawn: Drawn,
): { place: RefObject<HTMLDivElement | null>; plot: RefObject<Plot | null> } {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot>(null);
  const latest = useRef(drawn);
  latest.current = drawn;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new shape is a new plot; values only fill it
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    plot.current = new Plot(latest.current.optionsOf(element.clientWidth), latest.current.data, element);
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: latest.current.heightOf() }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.current?.destroy();
    };
  }, [shape]);
  useEffect(() => plot.current?.setData(drawn.data));
  return { place, plot };
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
