import { type CollectionEvent, listen } from './changes.ts';
import { type ClientConfig, type Parameters, queryString, type RequestOptions, request } from './request.ts';
import type {
  CollectionSummary,
  Operation,
  OperationsAnswer,
  OperationsParameters,
  Reindex,
  RetryAnswer,
  Run,
  RunReport,
} from './types.ts';

/** What is asked of a collection as a whole: its status, fields and changes, reindexing, runs over folders. */
export class CollectionAdministration {
  readonly name: string;
  readonly #config: ClientConfig;

  constructor(config: ClientConfig, name: string) {
    this.#config = config;
    this.name = name;
  }

  /** Holds the key, so no printed collection shows it. */
  protected get config(): ClientConfig {
    return this.#config;
  }

  status(): Promise<CollectionSummary> {
    return this.send('', {});
  }

  /** The fields that the collection knows, with their types. */
  schema(): Promise<{ schema: { fields: { name: string; type: string; multiValued: boolean; origin: string }[] } }> {
    return this.send('/schema', {});
  }

  /** Gives fields their types, by name, before any document has them. */
  defineFields(fields: Readonly<Record<string, string>>): Promise<unknown> {
    const body = new URLSearchParams();
    for (const [name, type] of Object.entries(fields)) body.append('field', `${name}:${type}`);
    return this.send('/schema', {}, { body });
  }

  /**
   * Fills a new collection from this one and swaps the two; `reindexStatus` reports the progress. 409 if a reindex
   * runs already.
   */
  reindex(
    parameters: {
      field?: readonly string[];
      allowMissing?: boolean;
      outputsFrom?: string;
      model?: string;
      /** How many it gets; as many as it has when not given. */
      shards?: number;
      /** Servers on which they lie in turn, with commas between the names; the same as now when not given. */
      shardServers?: string;
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
   * @param parameters `model`: the name of its content model; `shards`: how many it has, 1 to 64, 1 when not given;
   *   `shardServers`: the servers on which they lie in turn, with commas between the names
   */
  create(parameters: { model?: string; shards?: number; shardServers?: string } = {}): Promise<unknown> {
    return this.send('', parameters, { method: 'PUT', body: '{}', contentType: 'application/json' });
  }

  drop(): Promise<unknown> {
    return this.send('', {}, { method: 'DELETE' });
  }

  /** Accepted changes in their order, and how far they got. */
  operations(parameters: OperationsParameters = {}, options: { signal?: AbortSignal } = {}): Promise<OperationsAnswer> {
    return this.send('/operations', { ...parameters }, options);
  }

  /**
   * Changes as they are settled, and the state of the collection whenever that changed, until the signal aborts.
   *
   * @param options.cursor the id of the last event that was seen; what is settled from now on when not given
   */
  events(options: { cursor?: string; signal: AbortSignal }): AsyncGenerator<CollectionEvent> {
    return listen(this.config, this.path('/operations/stream'), options.cursor, options.signal);
  }

  /** Sets one failed change on its way again. */
  retry(operation: string): Promise<Operation> {
    return this.send(`/operations/${encodeURIComponent(operation)}/retry`, {}, { method: 'POST' });
  }

  /** Sets all failed changes on their way again, or those that failed for one reason. */
  retryFailed(reason?: string): Promise<RetryAnswer> {
    return this.send('/operations/retry', reason === undefined ? {} : { reason }, { method: 'POST' });
  }

  /** The newest runs over folders. */
  runs(): Promise<{ runs: Run[] }> {
    return this.send('/runs', {});
  }

  /** Tells how far a run over a folder is. */
  reportRun(id: string, report: RunReport): Promise<{ run: Run }> {
    const body = JSON.stringify(report);
    return this.send(this.#run(id), {}, { method: 'PUT', body, contentType: 'application/json' });
  }

  /** Indexes the files again that failed in a run, where the process that did it still runs. */
  retryRun(id: string): Promise<unknown> {
    return this.send(`${this.#run(id)}/retry`, {}, { method: 'POST' });
  }

  /** Removes a run that has ended from the list. */
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
