import { parseUrl } from '@akin/domain';
import type { Filter } from './filter.ts';
import type { Key, NewKey } from './keys.ts';
import { type ClientConfig, openStream, queryString, request, requestText } from './request.ts';
import { TypedCollection } from './typed-collection.ts';
import type { CollectionSummary, ContentModel, FleetProcess } from './types.ts';

export interface Client {
  /** Returns a handle on one collection, whose documents have these fields. Sends no request. */
  collection<Doc extends object = Record<string, unknown>>(name: string): TypedCollection<Doc>;
  /** Lists all collections with their states. */
  collections(): Promise<{ collections: CollectionSummary[] }>;
  /** Lists all keys, without their secrets. */
  keys(): Promise<{ keys: Key[] }>;
  /** Creates a key. `key` is what clients send; it is returned only this once. */
  createKey(key: Omit<NewKey, 'filter'> & { filter?: string | Filter }): Promise<Key & { key: string }>;
  /** Revokes a key by its id. */
  revokeKey(id: string): Promise<unknown>;
  /** Lists the content models that akin knows or has. `refusal` says why this akin downloads none. */
  models(): Promise<{ models: ContentModel[]; refusal?: string }>;
  /** Starts the download of a model to the machine of akin; `models` shows its progress. */
  pullModel(name: string): Promise<unknown>;
  /** Stops a download; `pullModel` continues it. */
  stopPull(name: string): Promise<unknown>;
  /** Lists the processes of a fleet that are connected to its PostgreSQL; empty if akin is a single process. */
  processes(): Promise<{ processes: FleetProcess[] }>;
  /**
   * A backup of the embedded store, in the format that `akin restore` reads. If the stream breaks off, the backup is
   * invalid.
   */
  backup(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Metrics of the process that answers, in Prometheus's text format. */
  metrics(options?: { signal?: AbortSignal }): Promise<string>;
  /** Whether akin answers and is ready. */
  isReady(): Promise<boolean>;
  /**
   * Resolves if akin answers and is ready. @throws {AkinRequestError} that says why it is not; `status` is 0 if there
   * is no response
   */
  ready(): Promise<void>;
}

/**
 * Creates a client of one akin server. No request is sent until a method is called.
 *
 * @throws TypeError for a `baseUrl` that is no URL
 */
export function createClient(given: ClientConfig): Client {
  const config = { ...given, baseUrl: withoutSlashes(given.baseUrl) };
  const ready = async (): Promise<void> => {
    await request(config, '/health/ready');
  };
  return {
    collection: <Doc extends object>(name: string) => new TypedCollection<Doc>(config, name),
    collections: () => request(config, '/api/cores'),
    keys: () => request(config, '/api/keys'),
    createKey: ({ filter, ...key }) =>
      request(config, '/api/keys', {
        body: queryString({ ...key, ...(filter === undefined ? {} : { filter: String(filter) }) }),
      }),
    revokeKey: (id) => request(config, `/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
    models: () => request(config, '/api/models'),
    pullModel: (name) => request(config, `/api/models/${encodeURIComponent(name)}/pull`, { method: 'POST' }),
    stopPull: (name) => request(config, `/api/models/${encodeURIComponent(name)}/pull`, { method: 'DELETE' }),
    processes: () => request(config, '/api/processes'),
    backup: (signal) => openStream(config, '/api/backup', signal, 'POST'),
    metrics: async (options = {}) => (await requestText(config, '/metrics', options)).text,
    isReady: () =>
      ready().then(
        () => true,
        () => false,
      ),
    ready,
  };
}

function withoutSlashes(baseUrl: string): string {
  // Also the path of a page, or nothing; but not localhost:8983, whose scheme would be localhost.
  const isUrl = baseUrl === '' || (/^(https?:\/)?\//i.test(baseUrl) && parseUrl(baseUrl, 'http://page/') !== undefined);
  if (isUrl) return baseUrl.replace(/\/+$/, '');
  const text = JSON.stringify(baseUrl.slice(0, 100));
  throw new TypeError(`baseUrl must be a URL such as http://127.0.0.1:8983, with http:// or https://; it is ${text}.`);
}
