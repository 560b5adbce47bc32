import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, models, parseOutputs } from '@akin/modules/vectors';
import type { Log } from '@akin/runtime';
import { openStore } from '@akin/store';
import type { Store } from '@akin/store/changes';
import { type DatabaseTemplate, testDatabase } from '@akin/testing';
import type { GatewayConfig } from '../src/config.ts';
import { createGateway, type Gateway } from '../src/gateway.ts';
import { expectDescribed } from './expect-described.ts';

/** A log that tests can read. */
export interface TestLog extends Log {
  readonly lines: { level: string; fields: Record<string, unknown>; message: string }[];
}

export function testLog(): TestLog {
  const lines: TestLog['lines'] = [];
  const write = (level: string) => (fields: object, message: string) => {
    lines.push({ level, fields: fields as Record<string, unknown>, message });
  };
  return { lines, info: write('info'), warn: write('warn'), error: write('error') };
}

const NO_METRICS: GatewayConfig['metrics'] = {
  request: () => {},
  search: () => {},
  text: async () => ({ type: 'text/plain', text: 'akin_up 1\n' }),
};

/** A config whose parts throw. Tests replace the parts that they need. */
export function testConfig(parts: Partial<GatewayConfig> = {}): GatewayConfig & { log: TestLog } {
  const unused = (name: string) => () => Promise.reject(new Error(`${name} is not part of this test`));
  return {
    // It has no keys and no collections.
    store: {
      ping: unused('store'),
      engine: { query: async () => [], read: async () => [] },
      standbys: { count: 0, statuses: [] },
      memory: { add: (part: object) => part },
    } as unknown as Store,
    analyze: unused('analyze'),
    makeThumbnail: unused('makeThumbnail'),
    commit: unused('commit'),
    wake: () => {},
    metrics: NO_METRICS,
    ...parts,
    log: (parts.log as TestLog | undefined) ?? testLog(),
  };
}

function openTestStore(databaseUrl: string, settings: { searchMilliseconds?: number } = {}): Promise<Store> {
  return openStore({
    databaseUrl,
    modules: MODULES,
    models: models(),
    parseOutputs,
    descriptorTexts,
    graceMilliseconds: 0,
    ...settings,
  });
}

/** A database with an empty store and the real modules. */
export const EMPTY_STORE: DatabaseTemplate = {
  name: 'gateway',
  fill: async (url) => (await openTestStore(url))[Symbol.asyncDispose](),
};

/** A real store with the real modules, in a database of its own. */
export async function testStore(
  settings: { searchMilliseconds?: number } = {},
): Promise<{ store: Store; databaseUrl: string; remove: () => Promise<void> }> {
  const database = await testDatabase(EMPTY_STORE);
  const store = await openTestStore(database.url, settings);
  return {
    store,
    databaseUrl: database.url,
    async remove() {
      await store[Symbol.asyncDispose]();
      await database.drop();
    },
  };
}

export interface TestResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of all shapes
  readonly json: any;
}

export interface TestRequest {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Uint8Array;
  /** Sends the body in chunks, without a length. */
  readonly chunked?: boolean;
}

/** One raw request: fetch would normalize the URL and forbid headers. The contract must describe a response in JSON. */
export function ask(gateway: Gateway, path: string, options: TestRequest = {}): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const { method = options.body === undefined ? 'GET' : 'POST', headers = {}, body, chunked } = options;
    const framing = chunked
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(Buffer.byteLength(body ?? '')) };
    const length = body === undefined ? {} : framing;
    const request = httpRequest(
      { host: '127.0.0.1', port: gateway.port, path, method, headers: { ...length, ...headers }, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
          const status = response.statusCode ?? 0;
          const json = isJson ? JSON.parse(text) : undefined;
          try {
            if (isJson && status < 300) expectDescribed(method, path, json);
            resolve({ status, headers: response.headers, text, json });
          } catch (error) {
            reject(error);
          }
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

export const JSON_BODY = { 'content-type': 'application/json' };
export const FORM_BODY = { 'content-type': 'application/x-www-form-urlencoded' };

export function postJson(gateway: Gateway, path: string, body: unknown): Promise<TestResponse> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return ask(gateway, path, { body: text, headers: JSON_BODY });
}

export { createGateway, type Gateway };
