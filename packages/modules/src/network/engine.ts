import type { Model } from './model.ts';

/** What an engine computes for a batch: the rows of its pictures one after the other, heads before normalization. */
interface EngineOutputs {
  readonly pool: Float32Array;
  readonly content: Float32Array;
  readonly duplicate: Float32Array;
}

/** The forward pass of a model, laid out in one backend. */
interface Engine {
  /** @param values `count` pictures of height × width × 3 scaled numbers. */
  run(values: Float32Array, count: number): Promise<EngineOutputs>;
}

export type OpenEngine = (model: Model) => Promise<Engine>;
