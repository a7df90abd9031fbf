/** A colour of a terminal: one of its sixteen, or any by its channels. */
export type Color = number | readonly [number, number, number];

/** The sixteen as grounds, and as writing on grounds: the same whatever the theme. */
const SOLID: readonly (readonly [number, number, number])[] = [
  [0x1b, 0x24, 0x30],
  [0xb3, 0x26, 0x1e],
  [0x1a, 0x6b, 0x36],
  [0x7d, 0x51, 0x00],
  [0x1d, 0x4b, 0xb0],
  [0x86, 0x32, 0x9b],
  [0x0b, 0x5d, 0x76],
  [0xd5, 0xda, 0xe2],
  [0x5d, 0x6a, 0x7c],
  [0xff, 0x9b, 0x94],
  [0x86, 0xda, 0x9f],
  [0xf0, 0xc2, 0x66],
  [0x9d, 0xbc, 0xff],
  [0xe0, 0xa8, 0xf0],
  [0x7f, 0xd3, 0xee],
  [0xff, 0xff, 0xff],
];
const BLACK = [0, 0, 0] as const;
const WHITE = [255, 255, 255] as const;
/** What the guidelines for accessible pages ask of text. */
export const LEAST_CONTRAST = 4.5;

const solid = (color: Color) => (typeof color === 'number' ? (SOLID[color] ?? BLACK) : color);
const css = (channels: readonly number[]) => `rgb(${channels.join(' ')})`;

export interface Looks {
  color?: string;
  background?: string;
}

/** What to write in and on, so that it can be read in every theme. */
export function looksOf(color: Color | undefined, background: Color | undefined): Looks {
  if (background !== undefined) {
    const ground = solid(background);
    return { color: css(legible(color, ground)), background: css(ground) };
  }
  if (color === undefined) return {};
  if (typeof color === 'number') return { color: `var(--ansi-${color})` };
  // On the page's own ground the theme says how dark or light writing must be; its tint stays.
  return { color: `oklch(from ${css(color)} clamp(var(--ink-least), l, var(--ink-most)) c h)` };
}

/** Writing and ground change places; what is not coloured has the page's own. */
export function inverted(color: Color | undefined, background: Color | undefined): Looks {
  if (color !== undefined) return looksOf(background, color);
  return { color: 'var(--code-bg)', background: 'var(--text)' };
}

function legible(color: Color | undefined, ground: readonly number[]): readonly number[] {
  if (color !== undefined && contrast(solid(color), ground) >= LEAST_CONTRAST) return solid(color);
  return contrast(WHITE, ground) >= contrast(BLACK, ground) ? WHITE : BLACK;
}

export function contrast(one: readonly number[], other: readonly number[]): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance([red = 0, green = 0, blue = 0]: readonly number[]): number {
  const linear = (channel: number) => {
    const share = channel / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}
