import { toHalf } from '@akin/domain';

const AXES = [Float32Array.of(1, 0), Float32Array.of(0, 1)];

/**
 * Documents in the format of COPY: visible from commit 1 on, each with a vector; (1, 0) and (0, 1) alternate by
 * default.
 */
export function rowBytes(count: number, vectorOf = (doc: number) => AXES[doc % 2] as Float32Array): Uint8Array {
  const header = Buffer.alloc(19);
  const end = Buffer.from([0xff, 0xff]);
  const rows = Array.from({ length: count }, (_, doc) => {
    const vector = vectorOf(doc);
    const row = Buffer.alloc(38 + 2 * vector.length);
    row.writeInt16BE(4, 0);
    row.writeInt32BE(8, 2);
    row.writeBigInt64BE(BigInt(doc), 6);
    row.writeInt32BE(8, 14);
    row.writeBigInt64BE(1n, 18);
    row.writeInt32BE(-1, 26);
    row.writeInt32BE(4 + 2 * vector.length, 30);
    row.writeUInt16BE(vector.length, 34);
    for (const [i, number] of vector.entries()) row.writeUInt16BE(toHalf(number), 38 + 2 * i);
    return row;
  });
  return Buffer.concat([header, ...rows, end]);
}
