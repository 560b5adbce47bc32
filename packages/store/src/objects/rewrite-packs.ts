import type { Collection, Store } from '../context.ts';
import { columnsOf } from '../engine/binary.ts';
import { insertPacks } from './packed-rows.ts';
import { PACK_BYTES, type PackRange, type PackRangeColumns, packRangeOf } from './packs.ts';

/** A pack with fewer referenced bytes than it could contain. */
export interface SparsePack {
  readonly pack: string;
  readonly bytes: number;
  /** Referenced bytes. */
  readonly live: number;
}

const TABLES = ['outputs', 'thumbnails'] as const;

type Moved = PackRangeColumns & { readonly doc: bigint };

/**
 * Writes the referenced parts of some packs into new ones, and changes the references.
 *
 * @returns the number of old packs, which are unused then
 */
export async function rewritePacks(
  store: Store,
  collection: Collection,
  packs: readonly SparsePack[],
): Promise<number> {
  let group: SparsePack[] = [];
  let rewritten = 0;
  const flush = async () => {
    // Rewriting a single small pack without unused bytes would change nothing.
    const [first] = group;
    const isWorth = group.length > 1 || (first !== undefined && first.live < first.bytes / 2);
    if (isWorth && (await rewrite(store, collection, group))) rewritten += group.length;
    group = [];
  };
  for (const one of packs) {
    if (group.reduce((sum, { live }) => sum + live, one.live) > PACK_BYTES) await flush();
    group.push(one);
  }
  await flush();
  return rewritten;
}

/** @returns false if a part cannot be read: the pack stays */
async function rewrite(store: Store, collection: Collection, packs: readonly SparsePack[]): Promise<boolean> {
  const names = columnsOf(packs, 'pack');
  const { engine } = store;
  if (store.packs === undefined) return false;
  const rows = new Map<(typeof TABLES)[number], Moved[]>();
  for (const table of TABLES) {
    const found = await engine.query<Moved>(
      `select doc, pack, start, size from ${collection.sqlSchema}.${table} where pack = any($1::uuid[]) order by doc`,
      names,
      'bulk',
    );
    rows.set(table, found);
  }
  // Documents that atomic updates made share their picture.
  const ranges = new Map<string, PackRange>();
  for (const row of [...rows.values()].flat()) {
    const range = packRangeOf(row);
    if (range) ranges.set(nameOf(row), range);
  }
  if (ranges.size === 0) return false;
  const parts = await store.packs.read([...ranges.values()]);
  if (parts.includes(undefined)) return false;
  const pack = await store.packs.write(collection.id, parts as Buffer[]);
  const moved = new Map([...ranges.keys()].map((name, i) => [name, pack.ranges[i] as PackRange]));
  await engine.transaction(
    async (tx) => {
      await tx.query(insertPacks(collection, 'select $1::uuid, $2::int'), [pack.pack, pack.bytes]);
      for (const [table, old] of rows) {
        const changes = old.map((row) => ({ ...row, to: moved.get(nameOf(row))?.start ?? 0 }));
        // Rows locked by a request are skipped and moved in the next pass, so no request waits.
        await tx.query(
          `update ${collection.sqlSchema}.${table} o set pack = $4, start = t.start
             from unnest($1::bigint[], $2::uuid[], $3::int[]) as t (doc, pack, start)
            where o.doc = t.doc and o.pack = t.pack and o.doc in (
              select doc from ${collection.sqlSchema}.${table} where doc = any($1::bigint[])
               order by doc for update skip locked)`,
          [...columnsOf(changes, 'doc', 'pack', 'to'), pack.pack],
        );
      }
    },
    { lane: 'bulk', keyed: true },
  );
  return true;
}

function nameOf({ pack, start, size }: PackRangeColumns): string {
  return `${pack} ${start} ${size}`;
}
