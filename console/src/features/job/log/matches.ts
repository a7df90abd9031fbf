/** Where lines begin that hold a text, the newest first; the next part lies before `before`, null at the top. */
export interface Part {
  offsets: readonly number[];
  before: number | null;
}

export type ReadPart = (before: number, signal: AbortSignal) => Promise<Part>;

export interface MatchesView {
  count: number;
  /** The match that is shown, counted from the newest; -1 before one was. */
  at: number;
  /** Where the line begins that holds it. */
  offset: number | undefined;
  /** Whether there are no more than those that are known. */
  isAll: boolean;
  isBusy: boolean;
  error: unknown;
}

/** So many are looked for at once; earlier ones as somebody comes to them. */
export const MOST_AT_ONCE = 5000;
const END = Number.MAX_SAFE_INTEGER;
const NOTHING: MatchesView = {
  count: 0,
  at: -1,
  offset: undefined,
  isAll: true,
  isBusy: false,
  error: undefined,
};

/** The places of a text in a log, read from its end upwards, and the way from one to the next. */
export class Matches {
  private offsets: number[] = [];
  private at = -1;
  private before: number | null = END;
  private isBusy = false;
  private isNextWanted = false;
  private error: unknown;
  private stopped = new AbortController();
  private view: MatchesView = NOTHING;
  private readonly listeners = new Set<() => void>();

  constructor(
    private readonly read: ReadPart,
    private readonly show: (offset: number) => void,
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  current = (): MatchesView => this.view;

  private changed(): void {
    const { offsets, at, before, isBusy, error } = this;
    this.view = { count: offsets.length, at, offset: offsets[at], isAll: before === null, isBusy, error };
    for (const listener of this.listeners) listener();
  }

  /** Look for the newest; show the first of them as soon as it is there, where somebody asked already. */
  start(isNextWanted = false): void {
    this.stopped = new AbortController();
    this.offsets = [];
    this.at = -1;
    this.before = END;
    this.isNextWanted = isNextWanted;
    void this.more();
  }

  stop(): void {
    this.stopped.abort();
    this.isBusy = false;
  }

  /** Go to the next earlier match (1), or back to the next later one (-1). */
  step(by: 1 | -1): void {
    const next = this.at < 0 ? 0 : this.at + by;
    if (next >= this.offsets.length && this.before !== null) {
      this.isNextWanted = true;
      void this.more();
    } else if (next < 0) {
      // Round to the earliest, once it is known which that is.
      if (this.before === null) this.go(this.offsets.length - 1);
    } else if (this.offsets.length > 0) {
      this.go(next % this.offsets.length);
    }
  }

  private go(index: number): void {
    this.isNextWanted = false;
    this.at = index;
    this.changed();
    this.show(this.offsets[index] ?? 0);
  }

  private async more(): Promise<void> {
    if (this.isBusy) return;
    const { signal } = this.stopped;
    const enough = this.offsets.length + MOST_AT_ONCE;
    this.isBusy = true;
    this.error = undefined;
    this.changed();
    try {
      while (this.before !== null && this.offsets.length < enough) {
        const part = await this.read(this.before, signal);
        if (signal.aborted) return;
        this.offsets.push(...part.offsets);
        this.before = part.before;
        this.changed();
        if (this.isNextWanted && this.offsets.length > this.at + 1) this.go(this.at + 1);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.error = error;
    }
    this.isBusy = false;
    this.isNextWanted = false;
    this.changed();
  }
}
