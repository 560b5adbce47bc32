import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ENGINES, type TestPlace, testPlace } from '../test/support.ts';
import { parseTinyOutputs, TINY_MODULES } from '../test/tiny-module.mjs';
import { claimForAnalysis, saveAnalysis } from './analysis.ts';
import { type Collection, collectionStatus, findCollection } from './collections.ts';
import { commit } from './commit.ts';
import { maintain } from './maintain.ts';
import { listOperations, type Operation } from './operations.ts';
import { openStore, type Store } from './store.ts';

const KILLS = 10;
const FEEDER = fileURLToPath(new URL('../test/feeder.mjs', import.meta.url));

/** What a feeder says it sends; see there. */
type Sent =
  | { readonly id: string; readonly n: number; readonly group: number; readonly analyzed: boolean }
  | { readonly deleted: string }
  | { readonly query: string };

/** What feeders said, over all of them. */
interface Log {
  /** Requests that were accepted for certain: first sequence number and changes. */
  readonly accepted: { readonly first: number; readonly sent: readonly Sent[] }[];
  /** Requests that were under way at a kill: accepted or not, but whole. */
  readonly unknown: (readonly Sent[])[];
  nextNumber: number;
}

describe.each(ENGINES)('a process on %s that is killed again and again', (kind) => {
  let place: TestPlace;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    ({ place, remove } = await testPlace(kind));
  });

  afterAll(() => remove?.());

  it('loses nothing that was accepted, and shows nothing by halves', async () => {
    const log: Log = { accepted: [], unknown: [], nextNumber: 0 };
    for (let i = 0; i < KILLS; i++) {
      await feedAndKill(log);
      // Most kills meet what the one before left; opening takes a while.
      if (i % 3 !== 2) continue;
      await using store = await openTinyStore();
      await checkVisible(store, await findCollection(store, 'my-collection'), log);
    }
    expect(log.accepted.length).toBeGreaterThanOrEqual(KILLS);

    await using store = await openTinyStore();
    const collection = await findCollection(store, 'my-collection');
    for (const task of await claimForAnalysis(store, 10_000)) await saveAnalysis(store, task, '[0,1]');
    await commit(store, collection);
    await maintain(store);
    await checkVisible(store, collection, log);
    expect(await collectionStatus(store, collection)).toMatchObject({ pending: 0, failed: 0 });
    const operations = await allOperations(store, collection);
    expect(operations.filter(({ state }) => state !== 'visible' && state !== 'superseded')).toEqual([]);
  }, 180_000);

  const openTinyStore = async (): Promise<Store> => {
    for (;;) {
      try {
        return await openStore({
          ...place,
          modules: TINY_MODULES as never,
          parseOutputs: parseTinyOutputs,
          graceMilliseconds: 0,
        });
      } catch (error) {
        // The server needs a moment to see that the killed process is gone.
        if (kind === 'pglite' || (error as { code?: string }).code !== 'conflict') throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };

  async function feedAndKill(log: Log): Promise<void> {
    const child = spawn(process.execPath, [FEEDER, JSON.stringify(place), String(log.nextNumber)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const killed = once(child, 'exit');
    let sending: readonly Sent[] | undefined;
    let left = 1 + Math.floor(Math.random() * 6);
    for await (const line of createInterface({ input: child.stdout })) {
      const said = JSON.parse(line) as { sending?: readonly Sent[]; accepted?: number };
      if (said.sending) sending = said.sending;
      if (said.accepted !== undefined && sending !== undefined) {
        log.accepted.push({ first: said.accepted, sent: sending });
        sending = undefined;
        if (--left === 0) killLater(child);
      }
    }
    expect((await killed)[1]).toBe('SIGKILL');
    if (sending !== undefined) log.unknown.push(sending);
    log.nextNumber += 100_000;
  }
});

function killLater(child: ChildProcess): void {
  setTimeout(() => child.kill('SIGKILL'), Math.random() * 300);
}

/** Compares what a search would see with what the operations that are visible add up to. */
async function checkVisible(store: Store, collection: Collection, log: Log): Promise<void> {
  const S = collection.sqlSchema;
  const operations = await allOperations(store, collection);
  const sent = assignNumbers(operations, log);

  const rows = await store.engine.query<{ id: string; n: bigint }>(`select id, n from ${S}.live_documents order by id`);
  expect(rows.map(({ id, n }) => [id, Number(n)])).toEqual(replay(operations, sent));
  expect((await collectionStatus(store, collection)).documents).toBe(rows.length);
  const [bare] = await store.engine.query<{ count: bigint }>(
    `select count(*) from ${S}.documents d left join ${S}.outputs o using (doc) left join ${S}.descriptors_tiny t using (doc)
      where o.doc is null or t.doc is null`,
  );
  expect(bare?.count).toBe(0n);
}

async function allOperations(store: Store, collection: Collection): Promise<Operation[]> {
  const operations: Operation[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page = await listOperations(store, collection, { after, limit: 1000 });
    operations.push(...page.operations);
    after = page.next;
  }
  return operations;
}

/** Finds what was sent as each operation, and checks that each request is there whole or, if nobody was told, not at all. */
function assignNumbers(operations: readonly Operation[], log: Log): Map<number, Sent> {
  expect(operations.map(({ seq }) => seq)).toEqual(operations.map((_, i) => i + 1));
  const sent = new Map<number, Sent>();
  const add = (first: number, changes: readonly Sent[]) => {
    for (const [i, change] of changes.entries()) sent.set(first + i, change);
  };
  for (const { first, sent: changes } of log.accepted) add(first, changes);
  for (const { seq, id } of operations) {
    if (sent.has(seq)) continue;
    // The first operation of a request of which nobody was told that it was accepted.
    add(seq, log.unknown.find((changes) => idOf(changes[0]) === id) ?? []);
  }
  expect([...sent.keys()].sort((a, b) => a - b)).toEqual(operations.map(({ seq }) => seq));
  for (const { seq, id } of operations) expect([seq, idOf(sent.get(seq))]).toEqual([seq, id]);
  return sent;
}

function idOf(change: Sent | undefined): string | null {
  if (change === undefined || 'query' in change) return null;
  return 'deleted' in change ? change.deleted : change.id;
}

/** The documents that the visible and superseded operations leave, by sequence numbers alone. */
function replay(operations: readonly Operation[], sent: ReadonlyMap<number, Sent>): [string, number][] {
  const last = new Map<string, number>();
  const queries: { seq: number; query: string }[] = [];
  for (const { seq, state } of operations) {
    const change = sent.get(seq);
    if (change === undefined || state !== 'visible') continue;
    if ('query' in change) queries.push({ seq, query: change.query });
    else last.set(idOf(change) ?? '', seq);
  }
  const documents: [string, number][] = [];
  for (const [id, seq] of last) {
    const change = sent.get(seq);
    if (change === undefined || !('n' in change)) continue;
    const deleted = queries.some(
      (one) => one.seq > seq && (one.query.includes(`n:${change.n} `) || one.query.endsWith(`group:${change.group}`)),
    );
    if (!deleted) documents.push([id, change.n]);
  }
  return documents.sort(([a], [b]) => (a < b ? -1 : 1));
}
