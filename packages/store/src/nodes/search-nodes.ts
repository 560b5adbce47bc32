import type { NodeAnswer, NodeQuestion } from './question.ts';

/** Processes that hold the vectors of some shards each, and find candidates in them. */
export interface SearchNodes {
  /**
   * Asks for the candidates of all shards of a collection.
   *
   * @param milliseconds that they may take, if fewer than always
   * @returns answers that together have every shard once; undefined where a shard has none. Never rejects.
   */
  ask(question: NodeQuestion, milliseconds?: number): Promise<readonly NodeAnswer[] | undefined>;
}
