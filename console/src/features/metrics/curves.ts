import type { Schemas } from '@/api/client';

export type Curve = Schemas['CurveBody'];
export type Axis = 'step' | 'time' | 'epoch';

/** A line of a chart. */
export interface Line {
  label: string;
  x: readonly number[];
  values: readonly (number | null)[];
  last: number | null;
}

export interface ChartOfCurves {
  title: string;
  lines: Line[];
}

const GROUPS = /^(train|training|val|valid|validation|eval|test)[/_](.+)$/;

/** What a metric measures, whatever part of the data it was measured on: `val/loss` and `train_loss` are loss. */
export function measured(name: string): string {
  return GROUPS.exec(name)?.[2] ?? name;
}

/** Charts of curves: those that measure the same are in one. `nameOf` says whose curve it is, if that is needed. */
export function charted(curves: readonly Curve[], nameOf: (curve: Curve) => string): ChartOfCurves[] {
  const charts = new Map<string, Line[]>();
  for (const curve of curves) {
    const title = measured(curve.name);
    const whose = nameOf(curve);
    const lines = charts.get(title) ?? [];
    charts.set(title, lines);
    lines.push({
      label: whose ? `${curve.name} · ${whose}` : curve.name,
      x: curve.x,
      values: curve.values,
      last: curve.last?.value ?? null,
    });
  }
  return [...charts].map(([title, lines]) => ({ title, lines }));
}

/** Whose curve it is: task and attempt, where there are several. */
export function whoseOf(curves: readonly Curve[]): (curve: Curve) => string {
  const manyTasks = new Set(curves.map(({ task }) => task)).size > 1;
  const manyAttempts = new Set(curves.map(({ attempt }) => attempt)).size > 1;
  return ({ task, attempt }) =>
    [manyTasks && task, manyAttempts && `#${attempt + 1}`].filter(Boolean).join(' ');
}

/** Smooth values: each is drawn towards those before it, the more the nearer `weight` is to 1. */
export function smoothed(values: readonly (number | null)[], weight: number): (number | null)[] {
  if (weight <= 0) return [...values];
  let mean = 0;
  let share = 0;
  return values.map((value) => {
    if (value === null) return null;
    mean = mean * weight + value * (1 - weight);
    share = share * weight + (1 - weight);
    return mean / share;
  });
}

/** Lines over one axis: all places that any of them has, and nothing where a line has no value. */
export function aligned(lines: readonly Line[], weight: number): [number[], ...(number | null)[][]] {
  const places = [...new Set(lines.flatMap(({ x }) => [...x]))].sort((one, other) => one - other);
  const index = new Map(places.map((place, at) => [place, at]));
  const columns = lines.map(({ x, values }) => {
    const column: (number | null)[] = new Array(places.length).fill(null);
    const smooth = smoothed(values, weight);
    for (const [at, place] of x.entries()) column[index.get(place) ?? 0] = smooth[at] ?? null;
    return column;
  });
  return [places, ...columns];
}

/** A number as short as it may be said. */
export function short(value: number): string {
  if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) return value.toExponential(2);
  return String(Number(value.toPrecision(5)));
}
