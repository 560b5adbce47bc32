import type { Model } from './model.ts';

/** The result for a batch, one row for each picture: the trunk's channels, and the head before normalization. */
export interface EngineOutputs {
  readonly pool: Float32Array;
  readonly vector: Float32Array;
}

interface Engine {
  /** @param values `count` pictures of height × width × 3 normalized numbers. */
  run(values: Float32Array, count: number): Promise<EngineOutputs>;
}

export type OpenEngine = (model: Model) => Promise<Engine>;
