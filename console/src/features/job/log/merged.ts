import type { JobEvent } from '@/api/client';
import { fold } from './lines';

export interface MergedLine {
  task: string;
  text: string;
  event?: JobEvent;
}

const MOST = 50_000;
const DROPPED_AT_ONCE = 10_000;

/** The output of all tasks in the order in which it came, a line each; unfinished lines wait at the end. */
export class MergedLog {
  private lines: MergedLine[] = [];
  private readonly unfinished = new Map<string, string>();
  private shift = 0;
  private view: { lines: readonly MergedLine[]; shift: number } = { lines: [], shift: 0 };
  private readonly listeners = new Set<() => void>();
  private isDrawing = false;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  current = () => this.view;

  output(task: string, text: string): void {
    const parts = ((this.unfinished.get(task) ?? '') + text).split('\n');
    this.unfinished.set(task, parts.pop() ?? '');
    for (const part of parts) this.lines.push({ task, text: fold(part) });
    this.draw();
  }

  step(event: JobEvent): void {
    this.lines.push({ task: '', text: event.message, event });
    this.draw();
  }

  /** Tell listeners once for all that came at the same time. */
  private draw(): void {
    if (this.isDrawing) return;
    this.isDrawing = true;
    queueMicrotask(() => {
      this.isDrawing = false;
      if (this.lines.length > MOST) {
        this.lines = this.lines.slice(DROPPED_AT_ONCE);
        this.shift -= DROPPED_AT_ONCE;
      }
      const waiting = [...this.unfinished].filter(([, text]) => text !== '');
      const last = waiting.map(([task, text]) => ({ task, text: fold(text) }));
      this.view = { lines: [...this.lines, ...last], shift: this.shift };
      for (const listener of this.listeners) listener();
    });
  }
}
