/** Bytes of a log; `nextOffset` is beyond them where a part was dropped and they only say so. */
export interface Piece {
  bytes: Uint8Array;
  offset: number;
  nextOffset: number;
}

const NEWLINE = 10;
const decoder = new TextDecoder();

/** What a terminal would show in the end of a line that was drawn again and again. */
export function fold(line: string): string {
  if (!line.includes('\r')) return line;
  const shown = line.replace(/\r+$/, '');
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

/** Some lines of a log in a row, each with the offset at which it begins; the last may be unfinished. */
export class Lines {
  constructor(
    readonly begin = 0,
    readonly end = 0,
    private readonly texts: readonly string[] = [],
    private readonly offsets: readonly number[] = [],
    private readonly unfinished = '',
    private readonly unfinishedOffset = 0,
  ) {}

  /** Read pieces that begin anywhere: a line that is cut at their beginning is left out. */
  static from(pieces: readonly Piece[], start: number, size: number): Lines {
    const first = pieces[0];
    if (!first) return new Lines(start, start);
    const cut = start === 0 || isMarker(first) ? -1 : first.bytes.indexOf(NEWLINE);
    const isCut = cut >= 0 && cut + 1 < first.bytes.length;
    const rest = isCut
      ? [
          { ...first, bytes: first.bytes.subarray(cut + 1), offset: first.offset + cut + 1 },
          ...pieces.slice(1),
        ]
      : pieces;
    const begin = rest[0]?.offset ?? start;
    return new Lines(begin, begin).before(rest, size);
  }

  get count(): number {
    return this.texts.length + (this.unfinished ? 1 : 0);
  }

  text(index: number): string {
    return this.texts[index] ?? fold(this.unfinished);
  }

  /** Where a line begins. */
  offset(index: number): number {
    return this.offsets[index] ?? (this.unfinished ? this.unfinishedOffset : this.end);
  }

  /** The line that holds an offset. */
  indexOf(offset: number): number {
    let low = 0;
    let high = this.offsets.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.offsets[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** These lines, with pieces behind them; a last line is unfinished only at the end of the log. */
  before(pieces: readonly Piece[], size: number): Lines {
    const texts = [...this.texts];
    const offsets = [...this.offsets];
    let end = this.end;
    let unfinished = this.unfinished;
    let unfinishedOffset = this.unfinishedOffset;
    for (const piece of pieces) {
      let from = 0;
      for (let at = piece.bytes.indexOf(NEWLINE); at >= 0; at = piece.bytes.indexOf(NEWLINE, from)) {
        const text = decoder.decode(piece.bytes.subarray(from, at));
        offsets.push(unfinished ? unfinishedOffset : piece.offset + from);
        texts.push(fold(unfinished + text));
        unfinished = '';
        from = at + 1;
      }
      if (from < piece.bytes.length) {
        if (!unfinished) unfinishedOffset = piece.offset + from;
        unfinished += decoder.decode(piece.bytes.subarray(from));
      }
      end = piece.nextOffset;
    }
    const isWhole = end >= size || unfinished === '' || texts.length === this.texts.length;
    return isWhole
      ? new Lines(this.begin, end, texts, offsets, unfinished, unfinishedOffset)
      : new Lines(this.begin, unfinishedOffset, texts, offsets);
  }

  /** These lines, with earlier ones before them. */
  after(earlier: Lines): Lines {
    const isJoined = earlier.unfinished !== '';
    const texts = [...earlier.texts, ...(isJoined ? [fold(earlier.unfinished)] : []), ...this.texts];
    const offsets = [...earlier.offsets, ...(isJoined ? [earlier.unfinishedOffset] : []), ...this.offsets];
    return new Lines(earlier.begin, this.end, texts, offsets, this.unfinished, this.unfinishedOffset);
  }

  /** These lines, after their task has printed more. */
  grown(text: string, nBytes: number): Lines {
    const parts = (this.unfinished + text).split('\n');
    const unfinished = parts.pop() ?? '';
    let at = this.unfinished ? this.unfinishedOffset : this.end;
    const offsets = [...this.offsets];
    for (const part of parts) {
      offsets.push(at);
      at += new TextEncoder().encode(part).length + 1;
    }
    const texts = [...this.texts, ...parts.map(fold)];
    return new Lines(this.begin, this.end + nBytes, texts, offsets, unfinished, at);
  }

  withoutFirst(n: number): Lines {
    const begin = this.offsets[n] ?? this.end;
    return new Lines(
      begin,
      this.end,
      this.texts.slice(n),
      this.offsets.slice(n),
      this.unfinished,
      this.unfinishedOffset,
    );
  }

  withoutLast(n: number): Lines {
    const kept = Math.max(1, this.texts.length - n);
    const end = this.offsets[kept] ?? this.end;
    return new Lines(this.begin, end, this.texts.slice(0, kept), this.offsets.slice(0, kept));
  }
}

function isMarker(piece: Piece): boolean {
  return piece.nextOffset - piece.offset !== piece.bytes.length;
}
