import { Lines, type Piece } from './lines';

export const CHUNK_BYTES = 256 * 1024;
export const MOST_LINES = 60_000;
const DROPPED_AT_ONCE = 10_000;

/** Where a log is read from. */
export interface Source {
  read(offset: number, limit: number, signal?: AbortSignal): Promise<Piece & { size: number }>;
}

/** What a view draws; a new one for each change. */
export interface View {
  lines: Lines;
  size: number;
  /** Lines that came or went above since the view was opened: what a scroll position moves by. */
  shift: number;
  /** Counts openings: a new one has nothing to do with where the last was scrolled to. */
  opening: number;
  /** The line to show after an opening; the end when undefined. */
  target: number | undefined;
  isAtEnd: boolean;
  isReady: boolean;
}

/**
 * A part of a log of any size, as lines: opened anywhere, and extended up and down as somebody scrolls.
 *
 * Only some tens of thousands of lines are held; what goes out of reach is dropped and read again when needed.
 */
export class LogWindow {
  private lines = new Lines();
  private size = 0;
  private shift = 0;
  private opening = 0;
  private target: number | undefined;
  private isReady = false;
  private opened: Promise<void> | undefined;
  private busy = new AbortController();
  private isExtending = false;
  private upStep = CHUNK_BYTES;
  private view: View = this.snapshot();
  private readonly listeners = new Set<() => void>();

  constructor(private readonly source: Source) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  current = (): View => this.view;

  private snapshot(): View {
    const isAtEnd = this.lines.end >= this.size;
    const { lines, size, shift, opening, target, isReady } = this;
    return { lines, size, shift, opening, target, isAtEnd, isReady };
  }

  private changed(): void {
    this.view = this.snapshot();
    for (const listener of this.listeners) listener();
  }

  close(): void {
    this.busy.abort();
    this.listeners.clear();
  }

  /** Open at the end, the first time that it is asked for. */
  ready(): Promise<void> {
    this.opened ??= this.openAtEnd();
    return this.opened;
  }

  async openAtEnd(): Promise<void> {
    const signal = this.begin();
    const { size } = await this.source.read(0, 1, signal);
    await this.open(Math.max(0, size - CHUNK_BYTES), size, undefined, signal);
  }

  /** Show a place: the line that holds this offset. */
  async openAt(offset: number): Promise<void> {
    if (this.isReady && offset >= this.lines.begin && offset < this.lines.end) {
      this.opening += 1;
      this.target = this.lines.indexOf(offset);
      this.changed();
      return;
    }
    const start = Math.max(0, offset - CHUNK_BYTES / 2);
    await this.open(start, start + CHUNK_BYTES, offset, this.begin());
  }

  private begin(): AbortSignal {
    this.busy.abort();
    this.busy = new AbortController();
    this.upStep = CHUNK_BYTES;
    return this.busy.signal;
  }

  private async open(start: number, end: number, at: number | undefined, signal: AbortSignal): Promise<void> {
    const pieces = await this.pieces(start, end, signal);
    if (signal.aborted) return;
    this.lines = Lines.from(pieces, start, this.size);
    this.opening += 1;
    this.shift = 0;
    this.target = at === undefined ? undefined : this.lines.indexOf(at);
    this.isReady = true;
    this.changed();
  }

  private async pieces(start: number, end: number, signal: AbortSignal): Promise<Piece[]> {
    const pieces: Piece[] = [];
    for (let offset = start; offset < end; ) {
      const piece = await this.source.read(offset, end - offset, signal);
      this.size = Math.max(this.size, piece.size);
      if (piece.nextOffset <= offset) break;
      pieces.push(piece);
      offset = piece.nextOffset;
    }
    return pieces;
  }

  extendUp = (): Promise<void> =>
    this.extend(async (signal) => {
      const end = this.lines.begin;
      if (end === 0) return;
      const start = Math.max(0, end - this.upStep);
      const earlier = Lines.from(await this.pieces(start, end, signal), start, end);
      // The first lines may have been dropped meanwhile: what was read does not join.
      if (signal.aborted || this.lines.begin !== end) return;
      // A part that was dropped from the log may be long: the next read goes further.
      const isGap = earlier.count <= 2 && end - start > CHUNK_BYTES / 2;
      this.upStep = isGap ? this.upStep * 4 : CHUNK_BYTES;
      this.shift += earlier.count;
      this.lines = this.lines.after(earlier);
      const excess = this.lines.count - MOST_LINES;
      if (excess > 0) this.lines = this.lines.withoutLast(excess);
    });

  extendDown = (): Promise<void> =>
    this.extend(async (signal) => {
      const start = this.lines.end;
      if (start >= this.size) return;
      const pieces = await this.pieces(start, start + CHUNK_BYTES, signal);
      // The stream may have brought the same meanwhile, and more.
      if (signal.aborted || this.lines.end !== start) return;
      this.lines = this.lines.before(pieces, this.size);
      this.dropFirst();
    });

  private async extend(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    if (this.isExtending || !this.isReady) return;
    this.isExtending = true;
    try {
      await work(this.busy.signal);
      this.changed();
    } finally {
      this.isExtending = false;
    }
  }

  private dropFirst(): void {
    if (this.lines.count <= MOST_LINES) return;
    this.lines = this.lines.withoutFirst(DROPPED_AT_ONCE);
    this.shift -= DROPPED_AT_ONCE;
  }

  /** Take in what a task has just printed: what is new of it, where it joins; elsewhere only the size is noted. */
  append(text: string, offset: number): void {
    const sent = new TextEncoder().encode(text);
    const { end } = this.lines;
    this.size = Math.max(this.size, offset + sent.length);
    if (this.isReady && offset <= end && end < offset + sent.length) {
      const isNew = offset === end;
      // A read may have been ahead of the stream.
      const rest = isNew ? text : new TextDecoder().decode(sent.subarray(end - offset));
      this.lines = this.lines.grown(rest, sent.length - (end - offset));
      this.dropFirst();
    }
    this.changed();
  }
}
