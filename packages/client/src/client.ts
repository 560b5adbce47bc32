import type { Key, NewKey } from './keys.ts';
import { type ClientConfig, openStream, queryString, request, requestText } from './request.ts';
import { TypedCollection } from './typed-collection.ts';
import type { CollectionSummary, FleetProcess } from './types.ts';

export interface Client {
  /** A handle on one collection, whose documents have these fields; nothing is sent yet. */
  collection<Doc extends object = Record<string, unknown>>(name: string): TypedCollection<Doc>;
  /** Names and states of all collections. */
  collections(): Promise<{ collections: CollectionSummary[] }>;
  /** All keys, without their secrets. */
  keys(): Promise<{ keys: Key[] }>;
  /** Makes a key; `key` is what clients send, returned only this once. */
  createKey(key: NewKey): Promise<Key & { key: string }>;
  /** Revokes a key by its id. */
  revokeKey(id: string): Promise<unknown>;
  /** The processes of a fleet that are connected to its PostgreSQL; none where akin is one process. */
  processes(): Promise<{ processes: FleetProcess[] }>;
  /** A backup of the embedded store, as `akin restore` reads it from a file. One that breaks off is none. */
  backup(signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Figures of the process that answers, in Prometheus's text format. */
  metrics(options?: { signal?: AbortSignal }): Promise<string>;
  /** Whether akin answers and can work. */
  isReady(): Promise<boolean>;
  /** Resolves when akin answers and can work. @throws {AkinRequestError} saying why it cannot; `status` 0: nobody answers */
  ready(): Promise<void>;
}

/** The client of one akin. Sends nothing until a method is called. */
export function createClient(config: ClientConfig): Client {
  const ready = async (): Promise<void> => {
    await request(config, '/health/ready');
  };
  return {
    collection: <Doc extends object>(name: string) => new TypedCollection<Doc>(config, name),
    collections: () => request(config, '/api/cores'),
    keys: () => request(config, '/api/keys'),
    createKey: (key) => request(config, '/api/keys', { body: queryString({ ...key }) }),
    revokeKey: (id) => request(config, `/api/keys/${encodeURIComponent(id)}`, { method: 'DELETE' }),
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
