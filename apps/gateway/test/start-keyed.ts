import type { Scope } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { commit, createKey, findCollection, type NewKey, openStore, type Store } from '@akin/store';
import { testDatabase } from '@akin/testing';
import { afterAll, beforeAll } from '@jest/globals';
import type { GatewayConfig } from '../src/config.ts';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { analyzeTestPicture } from './pictures.ts';
import { ask, JSON_BODY, type TestLog, type TestResponse, testConfig, testLog, testStore } from './start-gateway.ts';

/** Gateways that require keys, with a key of each scope. */
export interface Keyed extends AsyncDisposable {
  readonly store: Store;
  readonly gateway: Gateway;
  /** The same on PGlite. On PostgreSQL another one with its own store, as in a fleet. */
  readonly other: Gateway;
  readonly log: TestLog;
  readonly keys: Readonly<Record<Scope, string>>;
  /** Creates a key in `other` and returns its text. */
  make(key: NewKey): Promise<string>;
}

export async function startKeyed(
  kind: 'pglite' | 'postgres',
  access: GatewayConfig['access'] = {},
  parts: Partial<GatewayConfig> = {},
): Promise<Keyed> {
  const log = testLog();
  const { stores, remove } = kind === 'pglite' ? await embedded() : await shared();
  const [store, second] = stores as [Store, Store | undefined];
  const first = async (key: NewKey) => (await createKey(store, key)).text;
  const keys = {
    search: await first({ scope: 'search', note: 'reads' }),
    index: await first({ scope: 'index', note: 'writes' }),
    admin: await first({ scope: 'admin', note: 'may all' }),
  };
  const open = (one: Store) =>
    createGateway(
      testConfig({
        store: one,
        log,
        analyze: analyzeTestPicture,
        makeThumbnail: async (bytes) => bytes,
        commit: async (name) => commit(one, await findCollection(one, name)),
        access: { requireKeys: true, ...access },
        ...parts,
      }),
    );
  const gateway = await open(store);
  const other = second ? await open(second) : gateway;
  const make = async ({ expiresAt, ...key }: NewKey) => {
    const body = JSON.stringify({ ...key, ...(expiresAt ? { expires: expiresAt.toISOString() } : {}) });
    const response = await ask(other, '/api/keys', { body, headers: { ...JSON_BODY, ...bearer(keys.admin) } });
    if (response.status !== 201) throw new Error(response.text);
    return response.json.key as string;
  };
  return {
    ...{ store, gateway, other, log, keys, make },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      if (second) await other[Symbol.asyncDispose]();
      await remove();
    },
  };
}

type AskAs = (
  key: string | undefined,
  path: string,
  method?: string,
  headers?: Record<string, string>,
) => Promise<TestResponse>;

/**
 * Call this in a `describe`: all its tests share the same gateways, which `as` calls with a key or without.
 *
 * @param take gets them before the first test
 */
export function keyedGateways(kind: 'pglite' | 'postgres', take: (keyed: Keyed) => void): { as: AskAs } {
  let keyed: Keyed;
  beforeAll(async () => {
    keyed = await startKeyed(kind, { addressRate: 100_000 });
    take(keyed);
  });
  afterAll(async () => {
    await keyed?.[Symbol.asyncDispose]();
  });
  return {
    as: (key, path, method = 'GET', headers = {}) =>
      ask(keyed.gateway, path, { method, headers: { ...headers, ...(key === undefined ? {} : bearer(key)) } }),
  };
}

async function embedded(): Promise<{ stores: Store[]; remove: () => Promise<void> }> {
  const { store, remove } = await testStore();
  return { stores: [store], remove };
}

async function shared(): Promise<{ stores: Store[]; remove: () => Promise<void> }> {
  const database = await testDatabase();
  const open = () => openStore({ databaseUrl: database.url, shared: true, modules: MODULES, parseOutputs });
  const stores = [await open(), await open()];
  return {
    stores,
    async remove() {
      for (const store of stores) await store[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
