import type { JobEvent } from '@/api/client';
import { fold } from './lines';

export interface MergedLine {
  task: string;
  text: string;
  event?: JobEvent;
  /** When it was printed, in seconds; undefined where nobody knows. */
  at?: number;
}

/** Output of a task; of what was printed before, how far its log had come at which moment (seconds). */
export interface Output {
  task: string;
  text: string;
  offset: number;
  times?: readonly (readonly [at: number, size: number])[];
}

interface Unfinished {
  text: string;
  at: number;
}

interface Earlier {
  line: MergedLine;
  at: number;
}

export const MOST = 50_000;
const DROPPED_AT_ONCE = 10_000;
const NOW = Number.POSITIVE_INFINITY;
const NOTHING: Unfinished = { text: '', at: NOW };

/**
 * The output of all tasks, a line each; unfinished lines wait at the end.
 *
 * What was printed before somebody looked comes task by task, and is put into the order of its times; from then
 * on lines come in the order in which they are printed.
 */
export class MergedLog {
  private lines: MergedLine[] = [];
  private earlier: Earlier[] | undefined = [];
  private readonly unfinished = new Map<string, Unfinished>();
  private shift = 0;
  private view: { lines: readonly MergedLine[]; shift: number } = { lines: [], shift: 0 };
  private readonly listeners = new Set<() => void>();
  private isDrawing = false;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  current = () => this.view;

  output({ task, text, offset, times = [] }: Output): void {
    const begun = this.unfinished.get(task) ?? NOTHING;
    const parts = text.split('\n');
    const last = parts.length - 1;
    // What comes without times has just been printed.
    const timeAt = times.length > 0 || this.earlier ? timesBy(times) : justNow;
    let at = offset;
    for (const [index, part] of parts.entries()) {
      const isFirst = index === 0 && begun.text !== '';
      const whole = isFirst ? begun.text + part : part;
      const time = isFirst ? begun.at : timeAt(at);
      if (index < last) this.add({ task, text: fold(whole), at: known(time) }, time);
      else this.unfinished.set(task, { text: whole, at: time });
      // Counted in bytes, as the server counts; only where that matters.
      if (times.length > 0) at += new TextEncoder().encode(part).length + 1;
    }
    this.draw();
  }

  step(event: JobEvent): void {
    this.add({ task: '', text: event.message, event }, Date.parse(event.at) / 1000);
    this.draw();
  }

  /** What was printed before is all there. */
  settle(): void {
    if (!this.earlier) return;
    this.lines = latest(this.earlier).map(({ line }) => line);
    this.earlier = undefined;
    this.draw();
  }

  private add(line: MergedLine, at: number): void {
    if (!this.earlier) {
      this.lines.push(line);
      return;
    }
    this.earlier.push({ line, at });
    // What is too old among these is too old among more.
    if (this.earlier.length > 2 * MOST) this.earlier = latest(this.earlier);
  }

  /** Tell listeners once for all that came at the same time. */
  private draw(): void {
    if (this.isDrawing || this.earlier) return;
    this.isDrawing = true;
    queueMicrotask(() => {
      this.isDrawing = false;
      if (this.lines.length > MOST) {
        const nDropped = Math.max(DROPPED_AT_ONCE, this.lines.length - MOST);
        this.lines = this.lines.slice(nDropped);
        this.shift -= nDropped;
      }
      const waiting = [...this.unfinished].filter(([, { text }]) => text !== '');
      const last = waiting.map(([task, { text, at }]) => ({ task, text: fold(text), at: known(at) }));
      this.view = { lines: [...this.lines, ...last], shift: this.shift };
      for (const listener of this.listeners) listener();
    });
  }
}

const justNow = () => Date.now() / 1000;
const known = (at: number) => (Number.isFinite(at) ? at : undefined);

/** The last lines, in the order of their times; of one moment, in the order in which they came. */
function latest(lines: Earlier[]): Earlier[] {
  return lines.sort((one, other) => (one.at === other.at ? 0 : one.at - other.at)).slice(-MOST);
}

/** When what begins at an offset was printed, at the latest; offsets are asked for in their order. */
function timesBy(times: NonNullable<Output['times']>): (offset: number) => number {
  let index = 0;
  return (offset) => {
    while (index < times.length && (times[index]?.[1] ?? 0) <= offset) index += 1;
    return times[index]?.[0] ?? NOW;
  };
}
