import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AkinError,
  type FieldValue,
  type ModuleManifest,
  parseJson,
  readHalves,
  TypeClaims,
  validateDocument,
} from '@akin/domain';
import { copyTemplate, testDatabase } from '@akin/testing';
import type { Change } from '../src/changes/accept/staged-rows.ts';
import { type AcceptedRange, Staging } from '../src/changes/accept/staging.ts';
import type { Store } from '../src/changes/context.ts';
import { modelSetOf } from '../src/database/collections/model-set.ts';
import { loadSchema } from '../src/database/collections/schema.ts';
import type { Collection } from '../src/database/context.ts';
import type { Engine } from '../src/database/engine/engine.ts';
import { openPglite } from '../src/database/engine/pglite.ts';
import { openPostgres } from '../src/database/engine/postgres.ts';
import type { DescriptorTexts, ParsedDescriptor, ParsedOutputs } from '../src/database/model-sets.ts';
import { InMemorySearch } from '../src/search/searcher/in-memory-search.ts';
import { openStore, type StoreConfig } from '../src/store.ts';

// A search of a test finds its collection in memory however slow the machine is: a timer can wait no longer than this.
InMemorySearch.maxWaitMilliseconds = 2 ** 31 - 1;

export type EngineKind = 'pglite' | 'postgres';

/**
 * The engines on which a file tests what does not depend on the engine. PGlite is PostgreSQL and runs the same
 * statements, but takes several times the CPU: `npm test` leaves it to `npm run test:all`.
 */
export const ENGINES: readonly EngineKind[] = process.env.AKIN_TESTS === 'rest' ? ['pglite'] : ['postgres'];

export type TestLocation =
  | { readonly folder: string; readonly warn?: (text: string) => void }
  | { readonly databaseUrl: string };

/** The folder of a separate embedded database, in a folder of its own, and a function to remove both. */
export async function databaseFolder(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'akin-store-'));
  const folder = join(parent, 'data');
  await copyTestStore(folder);
  return { folder, remove: () => rm(parent, { recursive: true, force: true }) };
}

/** A separate empty database, and a function to remove it. */
export async function testLocation(kind: EngineKind): Promise<{ location: TestLocation; remove: () => Promise<void> }> {
  if (kind === 'pglite') {
    const { folder, remove } = await databaseFolder();
    return { location: { folder }, remove };
  }
  const database = await testDatabase({ name: 'store', fill: (databaseUrl) => closed(openTestStore({ databaseUrl })) });
  return { location: { databaseUrl: database.url }, remove: () => database.drop() };
}

/** Puts an embedded database with an empty store into a folder, as a copy of one that the run creates once. */
export async function copyTestStore(folder: string): Promise<void> {
  await copyTemplate('store', folder, (made) => closed(openTestStore({ folder: made })));
}

async function closed(store: Promise<Store>): Promise<void> {
  await (await store)[Symbol.asyncDispose]();
}

export function openEngine(location: TestLocation): Promise<Engine> {
  return 'folder' in location ? openPglite(location.folder) : openPostgres(location.databaseUrl);
}

/** Two modules with small vectors: enough for all tests of the store. */
export const TEST_MODULES: readonly ModuleManifest[] = [
  {
    name: 'shape',
    outputs: [
      { name: 'shape_descriptor', type: 'string', returnedByDefault: false },
      { name: 'shape_cluster', type: 'long', returnedByDefault: false },
      { name: 'shape_rerank', type: 'long', returnedByDefault: true },
    ],
    descriptor: { output: 'shape_descriptor', cell: 'shape_cluster', dimensions: 4 },
  },
  {
    name: 'tint',
    outputs: [
      { name: 'tint_names', type: 'strings', returnedByDefault: true },
      { name: 'tint_isolated', type: 'boolean', returnedByDefault: true },
      { name: 'tint_freq', type: 'doubles', returnedByDefault: true },
      { name: 'tint_free', type: 'longs', returnedByDefault: true },
    ],
  },
];

/** The outputs of a test: the descriptor is a list of numbers separated by commas. Its codes are one byte. */
export interface TestOutputs {
  readonly shape?: readonly number[];
  readonly names?: readonly string[];
}

export function testOutputs({ shape, names }: TestOutputs): string {
  return JSON.stringify({ shape_descriptor: shape?.join(','), tint_names: names });
}

/** Parses the text of {@link testOutputs}; throws on other text, as the real one does. */
export function parseTestOutputs(json: string): ParsedOutputs {
  if (!json.startsWith('{')) throw new AkinError('bad-request', 'The outputs are no object.');
  const { shape_descriptor: text, tint_names: names } = JSON.parse(json) as {
    shape_descriptor?: string;
    tint_names?: string[];
  };
  const fields = new Map<string, FieldValue>();
  const descriptors = new Map<string, ParsedDescriptor>();
  if (text !== undefined) {
    const vector = Float32Array.from(text.split(','), Number);
    descriptors.set('shape', { vector, codes: new Uint8Array([7]) });
    fields
      .set('shape_descriptor', text)
      .set('shape_cluster', BigInt(vector.indexOf(Math.max(...vector))))
      .set('shape_rerank', -(2n ** 62n));
  }
  if (names !== undefined) {
    fields
      .set('tint_names', names)
      .set('tint_isolated', true)
      .set('tint_freq', [0.25, 0.75])
      .set('tint_free', [0n, 8n]);
  }
  return { fields, descriptors };
}

/** Writes the texts that {@link parseTestOutputs} reads. */
export const testDescriptorTexts: DescriptorTexts = (module, _model, { halves, codes }) => {
  if (module === 'shape' && codes[0] !== 7) throw new Error('the codes of another descriptor');
  return new Map([[`${module}_descriptor`, readHalves(halves, 0, halves.length / 2).join(',')]]);
};

/** What every store of the tests needs, wherever its database is. */
export const TEST_STORE = {
  modules: TEST_MODULES,
  parseOutputs: parseTestOutputs,
  descriptorTexts: testDescriptorTexts,
};

export function openTestStore(
  location: TestLocation,
  graceMilliseconds = 0,
  settings: Partial<StoreConfig> = {},
): Promise<Store> {
  return openStore({
    ...location,
    ...TEST_STORE,
    graceMilliseconds,
    ...settings,
  });
}

/** Documents as JSON text, one object each, validated as the gateway does. */
export async function changesOf(store: Store, collection: Collection, documents: readonly object[]): Promise<Change[]> {
  const schema = await loadSchema(store, collection);
  const { parseOutputs } = modelSetOf(store, schema);
  const claims = new TypeClaims();
  return documents.map((document, position) => {
    const validated = validateDocument(parseJson(JSON.stringify(document)), position, schema.fields, claims);
    if ('errors' in validated) throw new Error(validated.errors[0]?.msg);
    claims.add(validated.newTypes);
    const { import: text, ...own } = validated.document;
    return { kind: 'add', document: own, ...(text === undefined ? {} : { outputs: parseOutputs(text) }) };
  });
}

/** A change that deletes a document. */
export const remove = (id: string) => ({ kind: 'delete', id }) as const;
/** A change that deletes the documents that match a query. */
export const removeMatching = (query: string) => ({ kind: 'delete-by-query', query }) as const;

/** Accepts one request. Documents are given as plain objects, other changes unchanged. */
export async function accept(
  store: Store,
  collection: Collection,
  changes: readonly (Change | object)[],
  options?: ConstructorParameters<typeof Staging>[2],
): Promise<AcceptedRange> {
  const staging = new Staging(store, collection, options);
  for (const change of changes) {
    await staging.add('kind' in change ? [change as Change] : await changesOf(store, collection, [change]));
  }
  return staging.accept();
}

/** The visible documents: ids with the value of one field, in order of id. */
export async function visible(store: Store, collection: Collection, field = 'id'): Promise<unknown[]> {
  const column = (await loadSchema(store, collection)).columns.get(field);
  const sql = column?.kind === 'column' ? column.sql : 'null';
  const rows = await store.engine.query<{ id: string; value: unknown }>(
    `select d.id, d.${sql} as value from ${collection.sqlSchema}.documents d join akin.collections c on c.id = $1
      where d.valid_from <= c.commit and c.commit < d.valid_to order by d.id`,
    [collection.id],
  );
  return rows.map(({ id, value }) => (field === 'id' ? id : [id, value]));
}
