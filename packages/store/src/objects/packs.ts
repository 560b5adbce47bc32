import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import type { ObjectStore } from './object-store.ts';

/*
 * Outputs and thumbnails of many documents are in one object, a pack, which never changes. Each row contains the pack
 * and the range of its bytes. See docs/adr/0035-outputs-and-thumbnails-in-packs.md.
 */

/** A range of bytes in a pack. */
export interface PackRange {
  readonly pack: string;
  readonly start: number;
  readonly size: number;
}

/** The columns with the range of the bytes of a row. All are null if the row itself contains the bytes. */
export interface PackRangeColumns {
  readonly pack: string | null;
  readonly start: number | null;
  readonly size: number | null;
}

/** A new object, and the range of each part. */
export interface Pack {
  readonly pack: string;
  readonly bytes: number;
  readonly ranges: readonly PackRange[];
}

/** Maximum bytes of a pack. It contains the parts that were waiting when its write began. */
export const PACK_BYTES = 1024 * 1024;
/** Maximum number of packs that a process writes at a time. Later parts wait, and share the next pack. */
const MAX_WRITES = 4;
/** Objects that one call reads at a time. */
const MAX_READS = 8;
/** A gap of at most this many bytes between two parts is read too, which saves a request. */
const GAP_BYTES = 64 * 1024;
const MAX_READ_BYTES = 4 * 1024 * 1024;

/** Prefix of the keys of packs. */
export const PACKS = 'packs/';

export function keyOf(pack: string): string {
  return `${PACKS}${pack.slice(0, 2)}/${pack}`;
}

interface PendingWrite {
  /** The collection whose rows will refer to them. */
  readonly collection: number;
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  readonly resolve: (pack: Pack) => void;
  readonly reject: (error: unknown) => void;
}

/** Gets each request to the object store: its kind, its duration with retries, and its outcome. */
export type ObjectRequestListener = (call: 'write' | 'read', milliseconds: number, result: 'done' | 'failed') => void;

/** Writes and reads packs. */
export class Packs {
  readonly objects: ObjectStore;
  #listener: ObjectRequestListener = () => {};
  #waiting: PendingWrite[] = [];
  #writes = 0;

  constructor(objects: ObjectStore) {
    this.objects = objects;
  }

  /** Sets the listener of all later requests. */
  listen(listener: ObjectRequestListener): void {
    this.#listener = listener;
  }

  async #timed<T>(call: 'write' | 'read', request: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      const value = await request();
      this.#listener(call, performance.now() - from, 'done');
      return value;
    } catch (error) {
      this.#listener(call, performance.now() - from, 'failed');
      throw error;
    }
  }

  /**
   * Writes parts into one object. Resolves when they are durable. Other calls for the same collection may share the
   * object, but not those for others: it is deleted when its collection no longer refers to it.
   *
   * @param collection the id of the collection whose rows will refer to them
   * @returns the object and the range of each part
   * @throws AkinError unavailable
   */
  write(collection: number, parts: readonly Uint8Array[]): Promise<Pack> {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ collection, parts, bytes, resolve, reject });
      this.#begin();
    });
  }

  #begin(): void {
    while (this.#writes < MAX_WRITES) {
      const [first] = this.#waiting;
      if (first === undefined) return;
      let bytes = 0;
      const calls = new Set<PendingWrite>();
      for (const one of this.#waiting) {
        if (one.collection !== first.collection) continue;
        if (calls.size > 0 && bytes + one.bytes > PACK_BYTES) break;
        bytes += one.bytes;
        calls.add(one);
      }
      this.#waiting = this.#waiting.filter((one) => !calls.has(one));
      this.#writes++;
      void this.#put([...calls], bytes).finally(() => {
        this.#writes--;
        this.#begin();
      });
    }
  }

  async #put(calls: readonly PendingWrite[], bytes: number): Promise<void> {
    const pack = randomUUID();
    try {
      const all = calls.flatMap(({ parts }) => parts);
      await this.#timed('write', () => this.objects.put(keyOf(pack), Buffer.concat(all, bytes)));
      let start = 0;
      for (const { parts, resolve } of calls) {
        const ranges = parts.map(({ length: size }) => {
          const range = { pack, start, size };
          start += size;
          return range;
        });
        resolve({ pack, bytes, ranges });
      }
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }

  /**
   * The bytes at some ranges, in their order. Undefined if the object is missing or incomplete. @throws AkinError
   * unavailable
   */
  async read(ranges: readonly PackRange[]): Promise<(Buffer | undefined)[]> {
    const found = new Map<PackRange, Buffer | undefined>();
    for (const range of ranges) if (range.size === 0) found.set(range, Buffer.alloc(0));
    const runs = runsOf(ranges.filter(({ size }) => size > 0)).values();
    const readSome = async () => {
      for (const run of runs) {
        const { pack, from, to } = run;
        const bytes = await this.#timed('read', () => this.objects.get(keyOf(pack), { from, to }));
        for (const range of run.ranges) {
          const at = range.start - from;
          found.set(range, bytes?.subarray(at, at + range.size));
        }
      }
    };
    await Promise.all(Array.from({ length: MAX_READS }, readSome));
    return ranges.map((range) => found.get(range));
  }
}

interface Run {
  readonly pack: string;
  readonly from: number;
  to: number;
  readonly ranges: PackRange[];
}

/** Ranges that are read by one request each. */
function runsOf(ranges: readonly PackRange[]): Run[] {
  const ordered = [...ranges].sort((a, b) => (a.pack === b.pack ? a.start - b.start : a.pack < b.pack ? -1 : 1));
  const runs: Run[] = [];
  for (const range of ordered) {
    const end = range.start + range.size;
    const run = runs.at(-1);
    if (run?.pack === range.pack && range.start - run.to <= GAP_BYTES && end - run.from <= MAX_READ_BYTES) {
      run.ranges.push(range);
      run.to = Math.max(run.to, end);
    } else {
      runs.push({ pack: range.pack, from: range.start, to: end, ranges: [range] });
    }
  }
  return runs;
}

/** The range of the bytes of a row. Undefined if the row contains its bytes, or has none. */
export function packRangeOf({ pack, start, size }: PackRangeColumns): PackRange | undefined {
  return pack === null || start === null || size === null ? undefined : { pack, start, size };
}

/** For a process that was started without the object store of its database. */
export function noPacksError(): AkinError {
  return new AkinError('unavailable', 'This process does not know where outputs and thumbnails are kept.', {
    cause: new Error('start it with --objects, like the others'),
    retryAfterSeconds: 30,
  });
}

/** For reads of bytes that should exist: somebody else deleted them, or a restore did not include them. */
export function lostPackError({ pack }: Pick<PackRange, 'pack'>): AkinError {
  return new AkinError('unavailable', 'Outputs or thumbnails are missing in the object store.', {
    cause: new Error(`${keyOf(pack)} is missing or truncated: restore the objects that belong to the database`),
    retryAfterSeconds: 30,
  });
}
