interface Points {
  steps: readonly number[];
  values: readonly (number | null)[];
}

/** The least and the largest of the values that are numbers. */
export function rangeOf(values: readonly (number | null)[]): [least: number, most: number] {
  const found = values.filter((value) => value !== null);
  return [Math.min(...found), Math.max(...found)];
}

/** The lines of a curve in a box; where values are no numbers, a line ends and another begins. */
export function pathsOf({ steps, values }: Points, width: number, height: number): string[] {
  const [least, most] = rangeOf(values);
  const first = steps[0] ?? 0;
  const length = (steps.at(-1) ?? first) - first || 1;
  const spread = most - least;
  const place = (step: number, value: number) => {
    const y = spread === 0 ? 0.5 : (value - least) / spread;
    return `${round(((step - first) / length) * width)} ${round((1 - y) * height)}`;
  };
  const lines: string[][] = [[]];
  values.forEach((value, index) => {
    if (value === null) lines.push([]);
    else lines.at(-1)?.push(place(steps[index] ?? first, value));
  });
  // A point alone is drawn as a short stroke.
  return lines
    .filter((line) => line.length > 0)
    .map((line) => `M${line.join('L')}${line.length === 1 ? 'h1' : ''}`);
}

const round = (value: number) => Math.round(value * 10) / 10;

/** A value in few digits. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  return size !== 0 && (size < 0.001 || size >= 1e6)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(4)));
}
