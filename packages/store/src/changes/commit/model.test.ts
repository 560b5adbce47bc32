import { createRandom, parseQuery } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, openTestStore, testOutputs } from '../../../test/support.ts';
import { collectionStatus, createCollection } from '../../database/collections/collections.ts';
import type { Collection } from '../../database/context.ts';
import { exportDocuments } from '../../search/export/export-documents.ts';
import type { FacetRequest } from '../../search/facet-request.ts';
import { getDocuments } from '../../search/read.ts';
import type { SearchRequest } from '../../search/request.ts';
import { search } from '../../search/search.ts';
import { parseSort } from '../../search/sort.ts';
import type { Change } from '../accept/staged-rows.ts';
import type { Store } from '../context.ts';
import { commit } from './commit.ts';

const STEPS = scaledByChaos(30);
const IDS = Array.from({ length: 14 }, (_, i) => `id ${i}`);
/** Unit vectors whose distances from each other and from {@link ASKED} are exact in half precision. */
const VECTORS = [
  [1, 0, 0, 0],
  [0, 1, 0, 0],
  [0, 0, 1, 0],
  [-1, 0, 0, 0],
];
const ASKED = [1, 0, 0, 0];

interface ModelDocument {
  readonly n: number;
  readonly tag: string;
  /** Which of {@link VECTORS}, if any. */
  readonly vector: number | undefined;
}

/** A simple model of a collection without any optimization: a map. */
class Model {
  /** Accepted changes. The database applies them at a commit. */
  #accepted = new Map<string, ModelDocument>();
  visible = new Map<string, ModelDocument>();

  add(id: string, document: ModelDocument): void {
    this.#accepted.set(id, document);
  }

  deleteWhere(goes: (id: string, document: ModelDocument) => boolean): void {
    for (const [id, document] of this.#accepted) if (goes(id, document)) this.#accepted.delete(id);
  }

  /** Sets `n` of a document, which is created if it does not exist. */
  update(id: string, n: number): void {
    this.#accepted.set(id, { tag: '', vector: undefined, ...this.#accepted.get(id), n });
  }

  commit(): void {
    this.visible = new Map([...this.#accepted].sort(([a], [b]) => compare(a, b)));
  }
}

const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);

describe.each([
  ['postgres', [1, 4]],
  ['pglite', [4]],
] as const)('a collection on %s', (kind, counts) => {
  let store: Store;
  sharedStore(
    kind,
    (opened) => {
      store = opened;
    },
    // Fields get their indexes during the test, and some commits are large enough for shards.
    (location) => openTestStore(location, 0, { indexedFrom: 5, exactDocuments: 100, shardsFrom: 2 }),
  );

  it.each(counts)('of %d shards behaves like a map in any sequence of changes', async (shards) => {
    const random = createRandom(25);
    const below = (most: number) => Math.floor(random() * most);
    const one = <T>(list: readonly T[]) => list[below(list.length)] as T;
    const collection = await createCollection(store, `model-${shards}`, { shards });
    const model = new Model();

    const change = (): Change | object => {
      const id = one(IDS);
      const [n, tag] = [below(8), one(['red', 'green', 'blue'])];
      const kind = below(10);
      if (kind < 5) {
        const vector = below(3) === 0 ? undefined : below(VECTORS.length);
        model.add(id, { n, tag, vector });
        const shape = vector === undefined ? undefined : VECTORS[vector];
        return { id, n, tag, ...(shape ? { import: testOutputs({ shape }) } : {}) };
      }
      if (kind === 5) {
        model.update(id, n);
        return { id, n: { set: n } };
      }
      if (kind < 8) {
        model.deleteWhere((other) => other === id);
        return { kind: 'delete', id };
      }
      const [query, goes] = one<[string, (id: string, document: ModelDocument) => boolean]>([
        [`tag:${tag} AND n:[0 TO ${n}]`, (_, d) => d.tag === tag && d.n <= n],
        [`n:${n}`, (_, d) => d.n === n],
        [`id:"${id}"`, (other) => other === id],
        ...(below(4) === 0 ? [['*:*', () => true] as [string, () => boolean]] : []),
      ]);
      model.deleteWhere(goes);
      return { kind: 'delete-by-query', query };
    };

    for (let step = 0; step < STEPS; step++) {
      await accept(store, collection, Array.from({ length: 1 + below(6) }, change));
      if (below(3) > 0) continue;
      expect(await commit(store, collection)).toMatchObject({ failed: 0 });
      model.commit();
      await check(collection, model.visible, one(['red', 'green', 'blue']), below(8));
      if (below(3) === 0) await maintain(store, [collection]);
    }
    await checkShards(collection, shards);
  });

  /** Searches in all ways. */
  async function check(
    collection: Collection,
    visible: ReadonlyMap<string, ModelDocument>,
    tag: string,
    n: number,
  ): Promise<void> {
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: visible.size, pending: 0 });
    if (visible.size === 0) return;
    const rows = [...visible].map(([id, document]) => ({ id, ...document }));
    const ask = (request: Partial<SearchRequest>) =>
      search(store, collection, { query: parseQuery('*:*'), rows: 100, ...request });
    const ids = (found: readonly { id: string }[]) => found.map(({ id }) => id);

    // A filter, an order and a cursor.
    const sort = parseSort('n desc, id asc');
    const ordered = [...rows].sort((a, b) => b.n - a.n || compare(a.id, b.id));
    const walked: string[] = [];
    for (let cursorMark = '*'; ; ) {
      const page = await ask({ sort, rows: 3, cursorMark, query: parseQuery('n:[* TO *]') });
      expect(page.numFound).toBe(rows.length);
      walked.push(...ids(page.hits));
      if (page.hits.length === 0 || page.nextCursorMark === undefined) break;
      cursorMark = page.nextCursorMark;
    }
    expect(walked).toEqual(ids(ordered));
    const tagged = rows.filter((row) => row.tag === tag && row.n >= n);
    const filtered = await ask({
      filters: [parseQuery(`tag:${tag}`), parseQuery(`n:[${n} TO *]`)],
      sort: parseSort('id asc'),
    });
    expect([filtered.numFound, ...ids(filtered.hits)]).toEqual([tagged.length, ...ids(tagged)]);

    // Counts.
    const facet: FacetRequest = {
      kind: 'field',
      field: 'tag',
      limit: undefined,
      offset: 0,
      mincount: 1,
      sort: 'index',
      missing: false,
    };
    const counts = new Map<string, number>();
    for (const row of rows) if (row.tag !== '') counts.set(row.tag, (counts.get(row.tag) ?? 0) + 1);
    const [counted] = (await ask({ facets: [facet], rows: 0 })).facets;
    expect(counted).toMatchObject({
      counts: [...counts].sort(([a], [b]) => compare(a, b)).map(([value, count]) => ({ value, count })),
    });

    // Similarity, from memory and by the database: a cursor and a threshold do not use only memory.
    const far = rows.flatMap(({ id, vector }) =>
      vector === undefined ? [] : [{ id, far: distance(VECTORS[vector]) }],
    );
    far.sort((a, b) => a.far - b.far || compare(a.id, b.id));
    const rank = { module: 'shape', vector: Float32Array.from(ASKED) };
    if (far.length > 0) {
      const near = await ask({ rank });
      expect([near.numFound, ...ids(near.hits)]).toEqual([far.length, ...ids(far)]);
      const first = await ask({ rank, cursorMark: '*' });
      expect(ids(first.hits)).toEqual(ids(far));
      const within = await ask({ rank: { ...rank, maxDistance: 1.5 } });
      expect(ids(within.hits)).toEqual(ids(far.filter((row) => row.far <= 1.5)));
    }

    // Single documents, and all of them.
    const wanted = [...visible.keys()].slice(0, 3);
    const got = await getDocuments(store, collection, [...wanted, 'no such id'], ['n']);
    expect([...got.documents].map(([id, document]) => [id, document.get('n')]).sort()).toEqual(
      wanted.map((id) => [id, BigInt(visible.get(id)?.n ?? -1)]),
    );
    expect((await exported(collection)).sort()).toEqual([...visible.keys()].sort());
  }

  async function exported(collection: Collection): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const request = { query: parseQuery('*:*'), filters: [], rows: 4, bytes: 1_000_000, cursor };
      const page = await exportDocuments(store, collection, request);
      found.push(...page.documents.map(({ fields }) => String(fields.get('id'))));
      cursor = page.next;
      if (cursor === undefined) return found;
    }
  }

  /** Documents are in several shards, and each id is in one. */
  async function checkShards({ sqlSchema: S }: Collection, shards: number): Promise<void> {
    const rows = await store.engine.query<{ id: string; shards: number; shard: number }>(
      `select id, count(distinct doc >> 40)::int as shards, min(doc >> 40)::int as shard from ${S}.documents group by id`,
    );
    for (const row of rows) expect(row.shards).toBe(1);
    if (rows.length > 8) expect(new Set(rows.map(({ shard }) => shard)).size > 1).toBe(shards > 1);
  }
});

function distance(vector: readonly number[] | undefined): number {
  return Math.hypot(...ASKED.map((value, i) => value - (vector?.[i] ?? 0)));
}
