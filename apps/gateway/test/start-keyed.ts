import type { Scope } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, parseOutputs } from '@akin/modules/vectors';
import { openStore } from '@akin/store';
import { commit, type Store } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { createKey, type NewKey } from '@akin/store/search';
import { testDatabase } from '@akin/testing';
import { afterAll, beforeAll } from '@jest/globals';
import type { GatewayConfig } from '../src/config.ts';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { analyzeTestPicture } from './pictures.ts';
import { ask, EMPTY_STORE, JSON_BODY, type TestLog, type TestResponse, testConfig, testLog } from './start-gateway.ts';

/** Gateways that require keys, with a key of each scope. */
export interface Keyed extends AsyncDisposable {
  readonly store: Store;
  readonly gateway: Gateway;
  /** Another one with its own store, as in a fleet. */
  readonly other: Gateway;
  readonly log: TestLog;
  readonly keys: Readonly<Record<Scope, string>>;
  /** Creates a key in `other` and returns its text. */
  make(key: NewKey): Promise<string>;
}

export async function startKeyed(
  access: GatewayConfig['access'] = {},
  parts: Partial<GatewayConfig> = {},
): Promise<Keyed> {
  const log = testLog();
  const database = await testDatabase(EMPTY_STORE);
  const open = () =>
    openStore({ databaseUrl: database.url, shared: true, modules: MODULES, parseOutputs, descriptorTexts });
  const [store, second] = [await open(), await open()];
  const first = async (key: NewKey) => (await createKey(store, key)).text;
  const keys = {
    search: await first({ scope: 'search', note: 'reads' }),
    index: await first({ scope: 'index', note: 'writes' }),
    admin: await first({ scope: 'admin', note: 'may all' }),
  };
  const serve = (one: Store) =>
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
  const gateway = await serve(store);
  const other = await serve(second);
  const make = async ({ expiresAt, ...key }: NewKey) => {
    const body = JSON.stringify({ ...key, ...(expiresAt ? { expires: expiresAt.toISOString() } : {}) });
    const response = await ask(other, '/api/keys', { body, headers: { ...JSON_BODY, ...bearer(keys.admin) } });
    if (response.status !== 201) throw new Error(response.text);
    return response.json.key as string;
  };
  return {
    store,
    gateway,
    other,
    log,
    keys,
    make,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
      for (const one of [store, second]) await one[Symbol.asyncDispose]();
      await database.drop();
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
export function keyedGateways(take: (keyed: Keyed) => void): { as: AskAs } {
  let keyed: Keyed;
  beforeAll(async () => {
    keyed = await startKeyed({ addressRate: 100_000 });
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

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
