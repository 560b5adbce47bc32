import type { NodeRequest, NodeResponse } from './protocol.ts';

/** Options of a request to all nodes. */
export interface FindOptions {
  /** Time limit of the responses, if it is lower than the usual one. */
  readonly milliseconds?: number | undefined;
  /** Aborts the questions when the client no longer waits for the response. */
  readonly signal?: AbortSignal | undefined;
  /** Whether responses for some of the shards can be used. */
  readonly acceptsPartial?: boolean | undefined;
}

/** Processes that keep the vectors of some shards each, and find candidates in them. */
export interface SearchNodes {
  /**
   * Asks for the candidates of all shards of a collection.
   *
   * @returns responses that have no shard twice. They lack the shards that no node has. If partial responses are not
   * accepted and a shard is lacking, there are no responses. Undefined if nodes take too long. Never rejects.
   */
  findCandidates(request: NodeRequest, options?: FindOptions): Promise<readonly NodeResponse[] | undefined>;
}
