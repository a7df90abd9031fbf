import { stripAnsi } from './ansi';

const TAB_COLUMNS = 4;
/** A browser leaves out a tab stop that is nearer than this. */
const LEAST_TAB_COLUMNS = 0.5;
/** Sums of widths are not exact. */
const SLACK_COLUMNS = 0.01;
const PLAIN = /^[ -~]*$/;
// What a terminal draws two columns wide: East Asian characters and emoji.
const WIDE = /[ᄀ-ᅟ⺀-〾ぁ-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]|\p{Extended_Pictographic}/u;

/** The room for a line, counted in characters of a font of one width; East Asian ones may be less than two wide. */
export interface Room {
  columns: number;
  wide: number;
}

/** How many rows a line takes: a character that does not fit into a row begins the next one. */
export function rowsIn(line: string, { columns, wide }: Room): number {
  if (PLAIN.test(line)) return Math.max(1, Math.ceil(line.length / Math.floor(columns + SLACK_COLUMNS)));
  let rows = 1;
  let column = 0;
  for (const character of stripAnsi(line)) {
    const isWide = character !== '\t' && WIDE.test(character);
    const widthAt = (at: number) => (character === '\t' ? toTabStop(at) : isWide ? wide : 1);
    if (column + widthAt(column) > columns + SLACK_COLUMNS) {
      rows += 1;
      column = 0;
    }
    column += widthAt(column);
  }
  return rows;
}

function toTabStop(column: number): number {
  const rest = TAB_COLUMNS - (column % TAB_COLUMNS);
  return rest < LEAST_TAB_COLUMNS ? rest + TAB_COLUMNS : rest;
}

/** The row at which each line begins when lines break at the end of the room; one more for the end. */
export function rowsOf(count: number, text: (index: number) => string, room: Room): Uint32Array {
  const rows = new Uint32Array(count + 1);
  let row = 0;
  for (let index = 0; index < count; index += 1) {
    rows[index] = row;
    row += rowsIn(text(index), room);
  }
  rows[count] = row;
  return rows;
}

/** The line that a row belongs to. */
export function lineAt(rows: Uint32Array, row: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] ?? 0) <= row) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}
