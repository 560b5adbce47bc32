import { hash } from 'node:crypto';
import type { Collection, Store } from '../context.ts';
import type { SqlValue } from '../engine/engine.ts';
import { lostPackError, noPacksError, type Pack, type PackRange, type PackRangeColumns, packRangeOf } from './packs.ts';

/** Contents of a row of `outputs` and one of `thumbnails`. */
export interface Picture {
  readonly outputs: string | null;
  readonly thumbnail: Uint8Array | null;
}

/** The ranges of outputs and thumbnail in a pack. */
interface PackedPicture {
  readonly outputs: PackRange | null;
  readonly thumbnail: PackRange | null;
  /** Tag of the thumbnail. */
  readonly etag: string | null;
}

/** Pictures in one pack that is written: rows may refer to it. */
export interface Packed {
  readonly pack: Pack;
  readonly pictures: readonly PackedPicture[];
}

/**
 * Writes pictures into a pack, before any row that refers to it.
 *
 * @returns undefined if there is nothing to write, or rows contain the bytes themselves
 * @throws AkinError unavailable
 */
export async function packPictures(
  store: Store,
  collection: Collection,
  pictures: readonly Picture[],
): Promise<Packed | undefined> {
  if (store.packs === undefined) return undefined;
  // All outputs come first: a commit reads them without the thumbnails.
  const outputs = pictures.flatMap((one) => (one.outputs === null ? [] : [Buffer.from(one.outputs)]));
  const thumbnails = pictures.flatMap(({ thumbnail }) => thumbnail ?? []);
  if (outputs.length + thumbnails.length === 0) return undefined;
  const pack = await store.packs.write(collection.id, [...outputs, ...thumbnails]);
  const ofOutputs = pack.ranges.slice(0, outputs.length).values();
  const ofThumbnails = pack.ranges.slice(outputs.length).values();
  const next = (ranges: Iterator<PackRange>) => (ranges.next() as { value: PackRange }).value;
  return {
    pack,
    pictures: pictures.map(({ outputs, thumbnail }) => ({
      outputs: outputs === null ? null : next(ofOutputs),
      thumbnail: thumbnail === null ? null : next(ofThumbnails),
      etag: thumbnail === null ? null : etagOfBytes(thumbnail),
    })),
  };
}

/** The same as the SQL of `etagOf`. */
export function etagOfBytes(thumbnail: Uint8Array): string {
  return hash('sha256', thumbnail, 'hex').slice(0, 32);
}

/** The parameter of {@link packRangeSql}. */
export function packRangeText(range: PackRange | null | undefined): string | null {
  return range ? `${range.pack} ${range.start} ${range.size}` : null;
}

/** SQL of the columns pack, start, size, from a text of {@link packRangeText}. */
export function packRangeSql(text: string): string {
  return `split_part(${text}, ' ', 1)::uuid, split_part(${text}, ' ', 2)::int, split_part(${text}, ' ', 3)::int`;
}

/**
 * SQL that registers a pack, in the transaction of the rows that refer to it. @param packs SQL that selects its name
 * and its bytes
 */
export function insertPacks({ id }: Collection, packs: string): string {
  return `insert into akin.packs (collection, pack, bytes) select ${Number(id)}, p.* from (${packs}) p
          on conflict (pack) do nothing`;
}

/** The columns of the outputs of a row, which may be in a pack. */
export type OutputsColumns = PackRangeColumns & { readonly outputs: string | null };

/** The outputs of some rows. Undefined if they are missing in their pack. @throws AkinError unavailable */
export async function readOutputs(
  store: Store,
  rows: readonly OutputsColumns[],
): Promise<(string | null | undefined)[]> {
  const found = await readPackRanges(store, rows);
  return rows.map((row) => (packRangeOf(row) === undefined ? row.outputs : found.get(row)?.toString()));
}

/** The bytes of the rows that have them in a pack. @throws AkinError unavailable */
export async function readPackRanges<Row extends PackRangeColumns>(
  store: Store,
  rows: readonly Row[],
): Promise<ReadonlyMap<Row, Buffer | undefined>> {
  const packed = rows.flatMap((row) => {
    const range = packRangeOf(row);
    return range === undefined ? [] : [{ row, range }];
  });
  if (packed.length === 0) return new Map();
  if (store.packs === undefined) throw noPacksError();
  const found = await store.packs.read(packed.map(({ range }) => range));
  return new Map(packed.map(({ row }, i) => [row, found[i]]));
}

/**
 * The bytes that {@link readPackRanges} read for a row. Undefined if the row itself contains them. @throws AkinError
 * unavailable if they are missing
 */
export function packedBytes<Row extends PackRangeColumns>(
  row: Row,
  found: ReadonlyMap<Row, Buffer | undefined>,
): Buffer | undefined {
  const range = packRangeOf(row);
  const bytes = found.get(row);
  if (range !== undefined && bytes === undefined) throw lostPackError(range);
  return bytes;
}

/** The arguments of a statement for one pack, or none. */
export function packArguments(packed: Packed | undefined): SqlValue[] {
  return [packed ? [packed.pack.pack] : [], packed ? [packed.pack.bytes] : []];
}
