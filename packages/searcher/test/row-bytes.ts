/** Documents as COPY sends them: seen from commit 1 on, each with a vector of two numbers, (1, 0) and (0, 1) by turns. */
export function rowBytes(count: number): Uint8Array {
  const header = Buffer.alloc(19);
  const end = Buffer.from([0xff, 0xff]);
  const rows = Array.from({ length: count }, (_, doc) => {
    const row = Buffer.alloc(42);
    row.writeInt16BE(4, 0);
    row.writeInt32BE(8, 2);
    row.writeBigInt64BE(BigInt(doc), 6);
    row.writeInt32BE(8, 14);
    row.writeBigInt64BE(1n, 18);
    row.writeInt32BE(-1, 26);
    row.writeInt32BE(8, 30);
    row.writeUInt16BE(2, 34);
    // 1 as a half float.
    row.writeUInt16BE(0x3c00, doc % 2 === 0 ? 38 : 40);
    return row;
  });
  return Buffer.concat([header, ...rows, end]);
}
