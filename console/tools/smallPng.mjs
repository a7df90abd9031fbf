// Makes pictures of screens small: a palette of 256 colours is all that they need.
import { deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const MOST_COLORS = 256;

/** The same picture with at most 256 colours. */
export function smaller(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const color of pixels) counts.set(color, (counts.get(color) ?? 0) + 1);
  const palette = paletteOf(counts);
  const places = new Map([...counts.keys()].map((color) => [color, nearest(palette, color)]));
  return encode(width, height, palette, pixels, places);
}

/** Colours of a picture as whole numbers; what browsers write: 8 bits, no interlacing. */
function decode(png) {
  let [width, height, channels] = [0, 0, 3];
  const parts = [];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const size = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + size);
    if (kind === 'IHDR') {
      [width, height, channels] = [data.readUInt32BE(0), data.readUInt32BE(4), data[9] === 6 ? 4 : 3];
    }
    if (kind === 'IDAT') parts.push(data);
    at += size + 12;
  }
  return { width, height, pixels: pixelsOf(inflateSync(Buffer.concat(parts)), width, height, channels) };
}

function pixelsOf(raw, width, height, channels) {
  const stride = width * channels;
  const pixels = new Uint32Array(width * height);
  let above = new Uint8Array(stride);
  for (let y = 0; y < height; y += 1) {
    const start = y * (stride + 1);
    const row = Uint8Array.from(raw.subarray(start + 1, start + 1 + stride));
    unfilter(raw[start], row, above, channels);
    for (let x = 0; x < width; x += 1) {
      const at = x * channels;
      pixels[y * width + x] = (row[at] << 16) | (row[at + 1] << 8) | row[at + 2];
    }
    above = row;
  }
  return pixels;
}

/** Undo what a row was filtered by, as the PNG specification numbers the filters. */
function unfilter(filter, row, above, channels) {
  for (let at = 0; at < row.length; at += 1) {
    const left = at < channels ? 0 : row[at - channels];
    const corner = at < channels ? 0 : above[at - channels];
    const guess = [0, left, above[at], (left + above[at]) >> 1, paeth(left, above[at], corner)][filter];
    row[at] += guess;
  }
}

function paeth(left, up, corner) {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  if (a <= b && a <= c) return left;
  return b <= c ? up : corner;
}

const CHECKS = Array.from({ length: 256 }, (_, byte) => {
  let check = byte;
  for (let bit = 0; bit < 8; bit += 1) check = check & 1 ? 0xedb88320 ^ (check >>> 1) : check >>> 1;
  return check >>> 0;
});

/** The check sum of PNG; Node itself has one only from 22.2 on. */
function crc32(bytes) {
  let check = 0xffffffff;
  for (const byte of bytes) check = CHECKS[(check ^ byte) & 255] ^ (check >>> 8);
  return (check ^ 0xffffffff) >>> 0;
}

const channel = (color, shift) => (color >> shift) & 255;
const SHIFTS = [16, 8, 0];

/** Split the box of colours that reaches furthest, again and again; frequent colours count more. */
function paletteOf(counts) {
  let boxes = [[...counts.keys()]];
  while (boxes.length < MOST_COLORS) {
    const rated = boxes.map((box) => ({ box, ...reach(box, counts) })).sort((a, b) => b.worth - a.worth);
    const [widest] = rated;
    if (!widest || widest.box.length < 2) break;
    const sorted = widest.box.toSorted((a, b) => channel(a, widest.shift) - channel(b, widest.shift));
    const middle = sorted.length >> 1;
    boxes = [...rated.slice(1).map(({ box }) => box), sorted.slice(0, middle), sorted.slice(middle)];
  }
  return boxes.map((box) => meanOf(box, counts));
}

function reach(box, counts) {
  if (box.length < 2) return { worth: -1, shift: 0 };
  const spans = SHIFTS.map((shift) => {
    const values = box.map((color) => channel(color, shift));
    return { shift, span: Math.max(...values) - Math.min(...values) };
  });
  const { shift, span } = spans.reduce((a, b) => (b.span > a.span ? b : a));
  const weight = box.reduce((sum, color) => sum + counts.get(color), 0);
  return { shift, worth: span * Math.log2(1 + weight) };
}

/** The colour that most of a box has, or its middle where none stands out. */
function meanOf(box, counts) {
  const total = box.reduce((sum, color) => sum + counts.get(color), 0);
  const common = box.reduce((a, b) => (counts.get(b) > counts.get(a) ? b : a));
  if (counts.get(common) * 2 > total) return common;
  const mean = SHIFTS.map((shift) =>
    Math.round(box.reduce((sum, color) => sum + channel(color, shift) * counts.get(color), 0) / total),
  );
  return (mean[0] << 16) | (mean[1] << 8) | mean[2];
}

function nearest(palette, color) {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  palette.forEach((one, index) => {
    const far = SHIFTS.reduce((sum, shift) => sum + (channel(one, shift) - channel(color, shift)) ** 2, 0);
    if (far < least) [best, least] = [index, far];
  });
  return best;
}

function encode(width, height, palette, pixels, places) {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) rows[y * (width + 1) + 1 + x] = places.get(pixels[y * width + x]);
  }
  const colors = Buffer.from(palette.flatMap((color) => SHIFTS.map((shift) => channel(color, shift))));
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('PLTE', colors),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  const [size, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, check]);
}
