import { stripAnsi } from './ansi';

const TAB_COLUMNS = 4;
const PLAIN = /^[ -~]*$/;
// What a terminal draws two columns wide: East Asian characters and emoji.
const WIDE = /[ᄀ-ᅟ⺀-〾ぁ-꓏가-힣豈-﫿︰-﹏＀-｠￠-￦]|\p{Extended_Pictographic}/u;

/** How many columns a line takes in a font of one width. */
export function columnsOf(line: string): number {
  if (PLAIN.test(line)) return line.length;
  let columns = 0;
  for (const character of stripAnsi(line)) {
    if (character === '\t') columns += TAB_COLUMNS - (columns % TAB_COLUMNS);
    else columns += WIDE.test(character) ? 2 : 1;
  }
  return columns;
}

/** The row at which each line begins when lines break after so many columns; one more for the end. */
export function rowsOf(count: number, text: (index: number) => string, columns: number): Uint32Array {
  const rows = new Uint32Array(count + 1);
  let row = 0;
  for (let index = 0; index < count; index += 1) {
    rows[index] = row;
    row += Math.max(1, Math.ceil(columnsOf(text(index)) / columns));
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
