import { AkinError, type ModuleManifest } from '@akin/domain';
import { AdaptiveBatchSize } from '../bulk/adaptive-batch-size.ts';
import { descriptorTable } from '../collections/collection-tables.ts';
import { tellHousekeeping } from '../collections/collections.ts';
import type { Collection, Store } from '../context.ts';
import { sqlStateOf } from '../engine/sqlstate.ts';
import type { Codebook } from './codebook.ts';
import { cellTable, createCellTable, liveGenerations, lockGenerations, pack } from './generations.ts';
import { CellThread } from './thread.ts';
import type { Sorted } from './worker.ts';

/** A codebook is trained again when the collection has grown so many times. */
const GROWTH = 4;
/**
 * So many times √n cells. Twice as many as balance cells and their rows: to find the nearest cells costs 0.5 ms at
 * 1,000,000 documents, and a quarter fewer rows are compared for the same recall.
 */
const CELLS_PER_ROOT = 2;
/** Most vectors that a codebook is trained on. */
const SAMPLE = 60_000;
const SAMPLE_PIECE = 3_000;
/** A generation that did not get on for so long is the rest of a process that ended. */
const ABANDONED_SECONDS = 120;
const BEAT_MILLISECONDS = 10_000;

const UNIQUE_VIOLATION = '23505';

/**
 * Trains cells of its own for each collection and module that needs them (see {@link isDue}), one after the other, and
 * sweeps what earlier ones left. Neither searches nor commits wait for it: the arithmetic is done in a worker thread and
 * rows are copied in short transactions. 1,000,000 documents take some minutes.
 *
 * @param signal ends it early; what was begun is swept by the next call
 * @returns whether nothing is left to do until one of the collections changes
 */
export async function arrangeCells(
  store: Store,
  collections: readonly Collection[],
  signal: AbortSignal = new AbortController().signal,
): Promise<boolean> {
  await store.engine.disk?.requireRoom('work');
  let done = true;
  for (const collection of collections) {
    try {
      for (const module of store.modules) {
        if (module.descriptor === undefined || signal.aborted) continue;
        await sweepGenerations(store, collection, module);
        if (await isDue(store, collection, module)) await buildGeneration(store, collection, module, signal);
      }
      done &&= !(await isAtWork(store, collection));
    } catch (error) {
      if (signal.aborted) return false;
      if (!(await isGone(store, collection, error))) throw error;
    }
  }
  return done && !signal.aborted;
}

/** Whether a generation is being made, or one that was used goes soon. */
async function isAtWork(store: Store, { sqlSchema: S }: Collection): Promise<boolean> {
  return (await store.engine.query(`select 1 from ${S}.generations where state <> 'current' limit 1`)).length > 0;
}

/** Whether a statement failed because somebody dropped the collection. */
async function isGone(store: Store, collection: Collection, error: unknown): Promise<boolean> {
  const rows = await store.engine.query('select 1 from akin.collections where id = $1', [collection.id]);
  return rows.length === 0 && sqlStateOf(error) !== undefined;
}

/** Asks for new cells, whatever the collection has grown: they are made in the background. */
export async function optimize(store: Store, collection: Collection): Promise<void> {
  await store.engine.query(`update ${collection.sqlSchema}.optimizations set asked_at = clock_timestamp()`);
  await tellHousekeeping(store.engine, collection);
}

/**
 * Collections that are always ranked exactly need no cells. Others do when there are none yet, when they have grown
 * fourfold since (more rows a cell than cells make searches slow, not wrong), or when somebody asked for it.
 */
async function isDue(store: Store, collection: Collection, { name }: ModuleManifest): Promise<boolean> {
  const S = collection.sqlSchema;
  const [row] = await store.engine.query<{ due: boolean }>(
    `select d.documents > $2
            and not exists (select from ${S}.generations where module = $1 and state = 'building')
            and (g.number is null or d.documents >= ${GROWTH} * g.documents or o.asked_at > g.began_at) as due
       from ${S}.descriptor_counts d cross join ${S}.optimizations o
       left join ${S}.generations g on g.module = d.module and g.state = 'current'
      where d.module = $1`,
    [name, store.exactDocuments],
  );
  return row?.due === true;
}

/** Drops generations that no search uses any more, and those that a process left unfinished. */
async function sweepGenerations(store: Store, collection: Collection, { name }: ModuleManifest): Promise<void> {
  const S = collection.sqlSchema;
  const rows = await store.engine.query<{ number: number }>(
    `select number from ${S}.generations
      where module = $1 and (state = 'retired' and at <= now() - $2 * interval '1 millisecond'
                          or state = 'building' and at <= now() - interval '${ABANDONED_SECONDS} seconds')`,
    [name, store.graceMilliseconds],
  );
  for (const { number } of rows) await dropGeneration(store, collection, name, number);
}

async function dropGeneration(store: Store, collection: Collection, module: string, number: number): Promise<void> {
  const S = collection.sqlSchema;
  await store.engine.transaction(
    async (tx) => {
      await lockGenerations(tx, collection, 'alone');
      await tx.query(`drop table if exists ${cellTable(S, module, number)}`);
      await tx.query(`delete from ${S}.generations where module = $1 and number = $2`, [module, number]);
    },
    { lane: 'bulk' },
  );
}

/** The generation that is being built. */
interface Target {
  readonly store: Store;
  readonly collection: Collection;
  readonly module: string;
  readonly number: number;
}

async function buildGeneration(
  store: Store,
  collection: Collection,
  module: ModuleManifest,
  signal: AbortSignal,
): Promise<void> {
  const dimensions = module.descriptor?.dimensions ?? 0;
  await using thread = new CellThread(dimensions, signal);
  const source = new DescriptorSource(store, collection, module.name, dimensions);
  const rows = await source.count();
  if (rows === 0) return;
  const codebook = await thread.train(await source.sample(rows), Math.ceil(CELLS_PER_ROOT * Math.sqrt(rows)));
  signal.throwIfAborted();
  const number = await begin(store, collection, module, codebook);
  if (number === undefined) return;
  const target = { store, collection, module: module.name, number };
  try {
    const docs = await assignAll(source, thread, target, signal);
    const sorted = await thread.sort();
    const copied = await copySorted(target, docs, sorted, signal);
    await store.engine.query(`analyze ${cellTable(collection.sqlSchema, module.name, number)}`, [], 'bulk');
    await swap(target, copied, sorted.radii);
  } catch (error) {
    await dropGeneration(store, collection, module.name, number);
    throw error;
  }
}

/**
 * From here on commits write into the new generation too.
 * @returns its number; undefined when somebody else is building one
 */
async function begin(
  store: Store,
  collection: Collection,
  module: ModuleManifest,
  codebook: Codebook,
): Promise<number | undefined> {
  const S = collection.sqlSchema;
  const cells = codebook.groups.length;
  try {
    return await store.engine.transaction(async (tx) => {
      await lockGenerations(tx, collection, 'alone');
      const [row] = await tx.query<{ number: number }>(
        `insert into ${S}.generations (module, number, state, documents, dimensions, centroids, groups, sizes, radii)
         select module, nextval('${S}.generation'), 'building', documents, $2, $3, $4, $5, $6
           from ${S}.descriptor_counts where module = $1 returning number`,
        [
          module.name,
          codebook.dimensions,
          pack(codebook.centroids),
          pack(codebook.groups),
          pack(new Int32Array(cells)),
          pack(new Float32Array(cells)),
        ],
      );
      if (row === undefined)
        throw new AkinError('not-found', `The collection ${collection.name} has no ${module.name}.`);
      await createCellTable(tx, S, module, row.number);
      return row.number;
    });
  } catch (error) {
    if (sqlStateOf(error) === UNIQUE_VIOLATION) return undefined;
    throw error;
  }
}

/** @returns the numbers of all rows, in the order in which the thread got them */
async function assignAll(
  source: DescriptorSource,
  thread: CellThread,
  target: Target,
  signal: AbortSignal,
): Promise<BigInt64Array> {
  let docs = new BigInt64Array(1024);
  let count = 0;
  const alive = new Heartbeat(target);
  for (let after = -1n; ; ) {
    signal.throwIfAborted();
    const page = await source.read(after);
    const last = page.docs.at(-1);
    if (last === undefined) return docs.subarray(0, count);
    await thread.assign(page.vectors);
    if (count + page.docs.length > docs.length) {
      const longer = new BigInt64Array(2 * (count + page.docs.length));
      longer.set(docs);
      docs = longer;
    }
    docs.set(page.docs, count);
    count += page.docs.length;
    after = last;
    await alive.beat();
  }
}

/**
 * Rows of a cell lie side by side, in random order, so that the first ones of a cell stand for all of it.
 * @returns how many were copied into each cell
 */
async function copySorted(
  { store, collection, module, number }: Target,
  docs: BigInt64Array,
  { order, cells, radii }: Sorted,
  signal: AbortSignal,
): Promise<Int32Array> {
  const S = collection.sqlSchema;
  const batchSize =
    store.engine.kind === 'pglite' ? new AdaptiveBatchSize(100, 2_000) : new AdaptiveBatchSize(1_000, 5_000, 100);
  const alive = new Heartbeat({ store, collection, module, number });
  const sizes = new Int32Array(radii.length);
  for (let from = 0; from < order.length; ) {
    signal.throwIfAborted();
    const to = from + batchSize.rows;
    const piece = Array.from(order.subarray(from, to), (i) => docs[i] as bigint);
    const copied = await store.engine.transaction(
      (tx) =>
        batchSize.measure(piece.length, async () => {
          // Whoever removes rows waits here or is waited for: a row that goes while it is copied would stay in its cell.
          await tx.query(`select from ${S}.generations where module = $1 and number = $2 for update`, [module, number]);
          // Rows that commits wrote since the beginning are there already; rows that went since then are left out.
          return tx.query<{ cell: number }>(
            `insert into ${cellTable(S, module, number)} (doc, cell, vector)
             select t.doc, t.cell, v.vector
               from unnest($1::bigint[], $2::int[]) with ordinality as t (doc, cell, place)
               join ${descriptorTable(S, module)} v on v.doc = t.doc order by t.place
             on conflict (doc) do nothing returning cell`,
            [piece, Array.from(cells.subarray(from, to))],
          );
        }),
      { lane: 'bulk', keyed: true },
    );
    for (const { cell } of copied) sizes[cell] = (sizes[cell] as number) + 1;
    from += piece.length;
    await alive.beat();
  }
  return sizes;
}

/** Tells now and then that the generation is still being built. */
class Heartbeat {
  readonly #target: Target;
  #last = performance.now();

  constructor(target: Target) {
    this.#target = target;
  }

  async beat(): Promise<void> {
    if (performance.now() - this.#last < BEAT_MILLISECONDS) return;
    this.#last = performance.now();
    const { store, collection, module, number } = this.#target;
    const rows = await store.engine.query(
      `update ${collection.sqlSchema}.generations set at = now() where module = $1 and number = $2 returning 1`,
      [module, number],
    );
    if (rows.length === 0) throw new AkinError('conflict', 'Another process took the cells over.');
  }
}

/** The moment from which on searches use the new generation. Commits counted what they wrote into it themselves. */
async function swap(
  { store, collection, module, number }: Target,
  copied: Int32Array,
  radii: Float32Array,
): Promise<void> {
  const S = collection.sqlSchema;
  await store.engine.transaction(async (tx) => {
    await lockGenerations(tx, collection, 'alone');
    const made = (await liveGenerations(tx, S)).find((one) => one.module === module && one.number === number);
    if (made === undefined) throw new AkinError('conflict', 'Another process took the cells over.');
    await tx.query(
      `update ${S}.generations set state = 'retired', at = now() where module = $1 and state = 'current'`,
      [module],
    );
    await tx.query(
      `update ${S}.generations set state = 'current', at = now(), sizes = $3, radii = $4
        where module = $1 and number = $2`,
      [
        module,
        number,
        pack(made.sizes.map((size, cell) => size + (copied[cell] as number))),
        pack(made.radii.map((radius, cell) => Math.max(radius, radii[cell] as number))),
      ],
    );
  });
}

/** Reads the descriptors of a module in pieces that hold nobody up. */
class DescriptorSource {
  readonly #store: Store;
  readonly #table: string;
  readonly #dimensions: number;
  readonly #batchSize: AdaptiveBatchSize;

  constructor(store: Store, collection: Collection, module: string, dimensions: number) {
    this.#store = store;
    this.#table = descriptorTable(collection.sqlSchema, module);
    this.#dimensions = dimensions;
    this.#batchSize =
      store.engine.kind === 'pglite' ? new AdaptiveBatchSize(500, 2_000) : new AdaptiveBatchSize(1_000, 2_000, 50);
  }

  async count(): Promise<number> {
    const [row] = await this.#store.engine.query<{ rows: bigint }>(
      `select count(*) as rows from ${this.#table}`,
      [],
      'bulk',
    );
    return Number(row?.rows ?? 0);
  }

  /** Vectors to train on: all of few, random pages of many. */
  async sample(rows: number): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    if (rows <= SAMPLE) {
      for (let after = -1n; ; ) {
        const { docs, vectors } = await this.read(after);
        const last = docs.at(-1);
        if (last === undefined) return Buffer.concat(pieces);
        pieces.push(vectors);
        after = last;
      }
    }
    const percent = Math.min(100, (100 * SAMPLE_PIECE) / rows);
    for (let i = 0; i < SAMPLE / SAMPLE_PIECE; i++) {
      const { vectors } = await this.#query(
        `select doc, vector from ${this.#table} tablesample system (${percent}) limit ${2 * SAMPLE_PIECE}`,
        [],
      );
      pieces.push(vectors);
    }
    return Buffer.concat(pieces);
  }

  /** The next rows in order of their number, and their vectors one behind the other. */
  async read(after: bigint): Promise<{ docs: bigint[]; vectors: Uint8Array }> {
    const limit = this.#batchSize.rows;
    return this.#batchSize.measure(limit, () =>
      this.#query(`select doc, vector from ${this.#table} where doc > $1 order by doc limit ${limit}`, [after]),
    );
  }

  async #query(rows: string, params: bigint[]): Promise<{ docs: bigint[]; vectors: Uint8Array }> {
    const [row] = await this.#store.engine.query<{ docs: bigint[] | null; vectors: Buffer | null }>(
      `select array_agg(t.doc order by t.doc) as docs, string_agg(halfvec_send(t.vector), ''::bytea order by t.doc) as vectors
         from (${rows}) t`,
      params,
      'bulk',
    );
    const vectors = row?.vectors ?? Buffer.alloc(0);
    if (vectors.length % (4 + 2 * this.#dimensions) !== 0) throw new Error('descriptors of another length were read');
    return { docs: row?.docs ?? [], vectors };
  }
}
