import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from '@jest/globals';
import { createCollection } from '../src/collections/collections.ts';
import type { Collection, Store } from '../src/context.ts';
import { exportDocuments } from '../src/export/export-documents.ts';
import { getDocuments } from '../src/search/get-documents.ts';
import { readThumbnail } from '../src/search/read.ts';
import { search } from '../src/search/search.ts';
import { type EngineKind, openTestStore, type TestLocation, testLocation, testOutputs } from './support.ts';

/** The thumbnail of each document. */
export const WEBP = Buffer.from('RIFF0000WEBPVP8 thumbnail');
export const outputsOf = (n: number) => testOutputs({ shape: [n, 1, 0, 0], names: ['red', `n${n}`] });
export const withPicture = (id: string, n: number, more: object = {}) => ({
  id,
  import: outputsOf(n),
  thumbnail: WEBP.toString('base64'),
  ...more,
});

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** Calls functions after the test, the last one first. */
export function afterTest(...close: readonly (() => Promise<void>)[]): void {
  closers.push(...close);
}

/** A store whose outputs and thumbnails are in objects of a folder. It is closed after the test. */
interface PackedStore {
  readonly store: Store;
  readonly collection: Collection;
  readonly folder: string;
  readonly location: TestLocation;
}

/** @param kept milliseconds that unused objects are kept */
export async function openPacked(
  kind: EngineKind,
  { kept = 0, isPacked = true, shards = 1 } = {},
): Promise<PackedStore> {
  const { location, remove } = await testLocation(kind);
  const folder = await mkdtemp(path.join(tmpdir(), 'akin-packs-'));
  afterTest(remove, () => rm(folder, { recursive: true, force: true }));
  const store = await openTestStore(
    location,
    0,
    isPacked ? { objects: { location: folder, keptMilliseconds: kept } } : {},
  );
  afterTest(async () => store[Symbol.asyncDispose]());
  return { store, collection: await createCollection(store, 'shop', { shards }), folder, location };
}

/** The files of the objects. */
export async function objectsIn(folder: string): Promise<string[]> {
  const all = await readdir(path.join(folder, 'packs'), { recursive: true, withFileTypes: true }).catch(() => []);
  return all.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}

/** The documents with all their data, in each way in which they can be read. */
export async function everything(store: Store, collection: Collection) {
  const query = { kind: 'all' } as const;
  const fields = ['id', 'shape_descriptor', 'tint_names', 'title'];
  const sort = [{ name: 'id', direction: 'asc' }] as const;
  const found = await search(store, collection, { query, fields, sort, rows: 100 });
  const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
  const ranked = await search(store, collection, { query, fields, rank, rows: 100 });
  const ids = found.hits.map(({ id }) => id);
  const got = await getDocuments(store, collection, ids, () => fields);
  const { documents } = await exportDocuments(store, collection, { query, filters: [], rows: 100, bytes: 1e9 });
  const plain = (document: ReadonlyMap<string, unknown> | undefined) => [...(document ?? [])];
  return Promise.all(
    found.hits.map(async ({ id, document }) => {
      const exported = documents.find((one) => one.fields.get('id') === id);
      return {
        found: plain(document),
        ranked: plain(ranked.hits.find((hit) => hit.id === id)?.document),
        got: plain(got?.get(id)),
        outputs: exported?.outputs,
        exported: exported?.thumbnail && Buffer.from(exported.thumbnail).toString(),
        thumbnail: (await (await readThumbnail(store, collection, id))?.read())?.toString(),
      };
    }),
  );
}

/** Number of outputs and thumbnails in the database itself. */
export async function rowsWithBytes(store: Store, { sqlSchema: S }: Collection): Promise<number> {
  const [row] = await store.engine.query<{ n: bigint }>(
    `select (select count(*) from ${S}.outputs where json is not null)
          + (select count(*) from ${S}.thumbnails where bytes is not null) as n`,
  );
  return Number(row?.n);
}
