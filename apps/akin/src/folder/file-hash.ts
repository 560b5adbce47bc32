import { createHash } from 'node:crypto';
import { promises as fs } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** A file up to this size is hashed as a whole. */
const WHOLE_BYTES = 1 << 20;
/** A larger one by its size and its first, middle and last bytes: three reads on a network drive. */
const PART_BYTES = 1 << 16;

/**
 * A hash of what a file contains, as an integer of 53 bits, which JSON keeps. Compare it only for files of the same
 * size.
 */
export function hashOfBytes(bytes: Uint8Array): number {
  return hashOf(
    bytes.length,
    partsOf(bytes.length).map(([start, length]) => bytes.subarray(start, start + length)),
  );
}

/** The same, read from the disk. @throws Error of the system */
export async function hashOfFile(file: string, size: number): Promise<number> {
  await using handle = await fs.open(file, 'r');
  return hashOfHandle(handle, size);
}

/** As {@link hashOfFile}, of an open file. */
export async function hashOfHandle(handle: FileHandle, size: number): Promise<number> {
  const parts: Uint8Array[] = [];
  for (const [start, length] of partsOf(size)) {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start);
    parts.push(buffer.subarray(0, bytesRead));
  }
  return hashOf(size, parts);
}

function partsOf(size: number): (readonly [start: number, length: number])[] {
  if (size <= WHOLE_BYTES) return [[0, size]];
  return [0, Math.floor((size - PART_BYTES) / 2), size - PART_BYTES].map((start) => [start, PART_BYTES] as const);
}

function hashOf(size: number, parts: readonly Uint8Array[]): number {
  const hash = createHash('sha256').update(`${size}\n`);
  for (const part of parts) hash.update(part);
  return Number(hash.digest().readBigUInt64BE() >> 11n);
}
