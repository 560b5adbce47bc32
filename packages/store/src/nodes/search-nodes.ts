import type { NodeAnswer, NodeQuestion } from './question.ts';

/** How nodes are asked. */
export interface AskingNodes {
  /** That they may take, if fewer than always. */
  readonly milliseconds?: number | undefined;
  /** Aborts the questions when the client no longer waits for the answer. */
  readonly signal?: AbortSignal | undefined;
  /** Whether answers for some of the shards can be used. */
  readonly isInPart?: boolean | undefined;
}

/** Processes that keep the vectors of some shards each, and find candidates in them. */
export interface SearchNodes {
  /**
   * Asks for the candidates of all shards of a collection.
   *
   * @returns answers that have no shard twice. Shards that no node has are missing. If partial answers cannot be used,
   * then all shards are missing. Undefined where nodes take too long. Never rejects.
   */
  ask(question: NodeQuestion, asking?: AskingNodes): Promise<readonly NodeAnswer[] | undefined>;
}
