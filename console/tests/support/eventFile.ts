/** The record of one scalar, as TensorBoard's writers write it. */
export function scalarEvent(step: number, tag: string, value: number): Buffer {
  const single = Buffer.alloc(5);
  single[0] = (2 << 3) | 5;
  single.writeFloatLE(value, 1);
  const summary = field(1, Buffer.concat([field(1, Buffer.from(tag)), single]));
  const at = Buffer.alloc(9);
  at[0] = (1 << 3) | 1;
  at.writeDoubleLE(1.7e9 + step, 1);
  return record(Buffer.concat([at, Buffer.from([2 << 3, step]), field(5, summary)]));
}

const field = (number: number, data: Buffer) =>
  Buffer.concat([Buffer.from([(number << 3) | 2, data.length]), data]);

function record(data: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeBigUInt64LE(BigInt(data.length));
  return Buffer.concat([head, checksum(head), data, checksum(data)]);
}

/** CRC-32C, turned and shifted as the format has it. */
function checksum(data: Buffer): Buffer {
  let value = 0xffffffff;
  for (const byte of data) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
  }
  const crc = (value ^ 0xffffffff) >>> 0;
  const out = Buffer.alloc(4);
  out.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0);
  return out;
}
