import { type CollectionEvent, listen } from './changes.ts';
import { type ClientConfig, type Parameters, queryString, type RequestOptions, request } from './request.ts';
import type {
  CollectionSummary,
  Operation,
  OperationsParameters,
  OperationsResponse,
  Quota,
  Reindex,
  RetryResponse,
  Run,
  RunReport,
} from './types.ts';

/** Methods for a collection as a whole: status, fields, changes, reindexing, and import runs of folders. */
export class CollectionAdministration {
  readonly name: string;
  readonly #config: ClientConfig;

  constructor(config: ClientConfig, name: string) {
    this.#config = config;
    this.name = name;
  }

  /** A getter, so that printing a collection does not show the key. */
  protected get config(): ClientConfig {
    return this.#config;
  }

  status(): Promise<CollectionSummary> {
    return this.send('', {});
  }

  /** Lists the fields of the collection with their types. */
  schema(): Promise<{ schema: { fields: { name: string; type: string; multiValued: boolean; origin: string }[] } }> {
    return this.send('/schema', {});
  }

  /** Defines the types of fields, by name, before any document has them. */
  defineFields(fields: Readonly<Record<string, string>>): Promise<unknown> {
    const body = new URLSearchParams();
    for (const [name, type] of Object.entries(fields)) body.append('field', `${name}:${type}`);
    return this.send('/schema', {}, { body });
  }

  /**
   * Fills a new collection from this one and swaps the two; `reindexStatus` reports the progress. Fails with 409 if a
   * reindex is running.
   */
  reindex(
    parameters: {
      field?: readonly string[];
      allowMissing?: boolean;
      outputsFrom?: string;
      model?: string;
      /** Number of shards. Default: as many as the collection has now. */
      shards?: number;
    } = {},
  ): Promise<Reindex> {
    return this.send('/reindex', {}, { body: queryString(parameters) });
  }

  reindexStatus(): Promise<Reindex> {
    return this.send('/reindex', {});
  }

  pauseReindex(): Promise<Reindex> {
    return this.send('/reindex/pause', {}, { body: '' });
  }

  resumeReindex(): Promise<Reindex> {
    return this.send('/reindex/resume', {}, { body: '' });
  }

  /**
   * @param parameters `model`: the name of its content model; `shards`: the number of shards, 1 to 64, default 1; a
   * quota as in `setQuota`
   */
  create(parameters: { model?: string; shards?: number } & Partial<Quota> = {}): Promise<unknown> {
    return this.send('', parameters, { method: 'PUT', body: '{}', contentType: 'application/json' });
  }

  /** Sets the maximum number of documents and bytes; without a number there is no limit. */
  setQuota(quota: Partial<Quota>): Promise<CollectionSummary> {
    return this.send('/quota', { ...quota }, { method: 'PUT', body: '{}', contentType: 'application/json' });
  }

  drop(): Promise<unknown> {
    return this.send('', {}, { method: 'DELETE' });
  }

  /** Lists accepted changes in order, with their states. */
  operations(
    parameters: OperationsParameters = {},
    options: { signal?: AbortSignal } = {},
  ): Promise<OperationsResponse> {
    return this.send('/operations', { ...parameters }, options);
  }

  /**
   * Yields finished changes, and the state of the collection when it changes, until the signal aborts.
   *
   * @param options.cursor the id of the last event that was received; by default only new events are returned
   */
  events(options: { cursor?: string; signal: AbortSignal }): AsyncGenerator<CollectionEvent> {
    return listen(this.config, this.path('/operations/stream'), options.cursor, options.signal);
  }

  /** Processes one failed change again. */
  retry(operation: string): Promise<Operation> {
    return this.send(`/operations/${encodeURIComponent(operation)}/retry`, {}, { method: 'POST' });
  }

  /** Processes all failed changes again, or those that failed for one reason. */
  retryFailed(reason?: string): Promise<RetryResponse> {
    return this.send('/operations/retry', reason === undefined ? {} : { reason }, { method: 'POST' });
  }

  /** Lists the newest import runs of folders. */
  runs(): Promise<{ runs: Run[] }> {
    return this.send('/runs', {});
  }

  /** Reports the progress of an import run of a folder. */
  reportRun(id: string, report: RunReport): Promise<{ run: Run }> {
    const body = JSON.stringify(report);
    return this.send(this.#run(id), {}, { method: 'PUT', body, contentType: 'application/json' });
  }

  /** Indexes the failed files of a run again. The process of the run must still be running. */
  retryRun(id: string): Promise<unknown> {
    return this.send(`${this.#run(id)}/retry`, {}, { method: 'POST' });
  }

  /** Removes a finished run from the list. */
  dismissRun(id: string): Promise<unknown> {
    return this.send(`${this.#run(id)}/dismiss`, {}, { method: 'POST' });
  }

  #run(id: string): string {
    return `/runs/${encodeURIComponent(id)}`;
  }

  protected send<T>(endpoint: string, parameters: Parameters, options: RequestOptions = {}): Promise<T> {
    const query = String(queryString(parameters));
    return request(this.config, `${this.path(endpoint)}${query ? `?${query}` : ''}`, options);
  }

  protected path(endpoint: string): string {
    return `/api/cores/${encodeURIComponent(this.name)}${endpoint}`;
  }
}
