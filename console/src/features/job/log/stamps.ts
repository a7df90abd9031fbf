import { useQueries } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { recall, remember } from '@/app/memory';
import { clock } from '@/ui/time';
import { type LogPlace, timesQuery } from './source';

/** How far a log had come at which moment (seconds), in the order of both. */
export type Times = readonly (readonly [at: number, size: number])[];

/** So few bytes at a time that the server need not leave out any of its samples, of which there is one a second. */
export const BUCKET_BYTES = 32 * 1024;
const KEY = 'footplate.stamps';
const BLANK = /./g;

/** When what begins at an offset had been printed, in seconds; undefined where nobody has looked by then. */
export function timeOf(times: Times, offset: number): number | undefined {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle]?.[1] ?? 0) > offset) high = middle;
    else low = middle + 1;
  }
  return times[low]?.[0];
}

/** Whether lines have their times before them, and a switch for it. */
export function useStamps(): [boolean, () => void] {
  const [isOn, setOn] = useState(() => recall(KEY) === 'yes');
  const turn = () => {
    remember(KEY, isOn ? 'no' : 'yes');
    setOn(!isOn);
  };
  return [isOn, turn];
}

/** A time of day before a line, as wide as every other; blank where it is not known. */
export function stampOf(at: number | undefined, isDated: boolean): string {
  const shown = clock(new Date((at ?? 0) * 1000).toISOString(), isDated).replace(/\.\d+$/, '');
  return `${at === undefined ? shown.replace(BLANK, ' ') : shown}  `;
}

/** A way to say when the lines in sight were printed; what is not in sight is not asked for. */
export function useTimes(place: LogPlace, drawn: readonly [number, number] | undefined, isLive: boolean) {
  const buckets = drawn ? bucketsOf(drawn) : [];
  const found = useQueries({
    queries: buckets.map((bucket) => timesQuery(place, bucket * BUCKET_BYTES, BUCKET_BYTES, isLive)),
    combine: useCallback((all: { data: Times | undefined }[]) => all.map(({ data }) => data), []),
  });
  return (offset: number): number | undefined => {
    const index = buckets.indexOf(Math.floor(offset / BUCKET_BYTES));
    // What begins at the end of a part had been printed when the next one had begun.
    const known = [...(found[index] ?? []), ...(found[index + 1] ?? [])];
    return index < 0 ? undefined : timeOf(known, offset);
  };
}

function bucketsOf([from, to]: readonly [number, number]): number[] {
  const first = Math.floor(from / BUCKET_BYTES);
  const last = Math.floor(Math.max(from, to) / BUCKET_BYTES);
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}
