/** Writes tar archives: plain headers, and extended ones for names that do not fit. */
const BLOCK = 512;
const NAME_BYTES = 100;

export interface TarFile {
  name: string;
  content: Blob;
  /** When it was last changed, in milliseconds since 1970. */
  changedAt?: number;
}

/** An archive of files, packed with gzip as it is written. */
export async function tarGz(files: readonly TarFile[], onPacked?: (nFiles: number) => void): Promise<Blob> {
  const parts = tarParts(files, onPacked);
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      const { value, done } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
  const packed = stream.pipeThrough(new CompressionStream('gzip'));
  return new Blob([await new Response(packed).arrayBuffer()], { type: 'application/gzip' });
}

export async function* tarParts(
  files: readonly TarFile[],
  onPacked?: (nFiles: number) => void,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const [index, { name, content, changedAt }] of files.entries()) {
    const bytes = new Uint8Array(await content.arrayBuffer());
    if (new TextEncoder().encode(name).length > NAME_BYTES) yield* extended(name);
    // A browser does not know who may run a file; one that names its interpreter wants to be run.
    const mode = bytes[0] === 0x23 && bytes[1] === 0x21 ? 0o755 : 0o644;
    yield header(name, bytes.length, mode, '0', changedAt);
    yield padded(bytes);
    onPacked?.(index + 1);
  }
  yield new Uint8Array(2 * BLOCK);
}

function* extended(name: string): Generator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const field = ` path=${name}\n`;
  const bare = encoder.encode(field).length;
  let length = bare + String(bare).length;
  if (String(length).length > String(bare).length) length += 1;
  const record = encoder.encode(`${length}${field}`);
  yield header('././@PaxHeader', record.length, 0o644, 'x');
  yield padded(record);
}

function header(
  name: string,
  size: number,
  mode: number,
  type: string,
  changedAt = 0,
): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(BLOCK);
  const encoder = new TextEncoder();
  const put = (text: string, at: number) => block.set(encoder.encode(text), at);
  const octal = (value: number, width: number) => `${value.toString(8).padStart(width - 1, '0')}\0`;
  block.set(encoder.encode(name).slice(0, NAME_BYTES), 0);
  put(octal(mode, 8), 100);
  put(octal(0, 8), 108);
  put(octal(0, 8), 116);
  put(octal(size, 12), 124);
  put(octal(Math.max(0, Math.floor(changedAt / 1000)), 12), 136);
  put('        ', 148);
  put(type, 156);
  put('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  put(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK);
  whole.set(bytes);
  return whole;
}
