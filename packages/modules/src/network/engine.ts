import type { Model } from './model.ts';

/** The result for a batch: one row for each picture, heads before normalization. */
export type EngineOutputs<Head extends string> = Readonly<Record<'pool' | Head, Float32Array>>;

interface Engine<Head extends string> {
  /** @param values `count` pictures of height × width × 3 normalized numbers. */
  run(values: Float32Array, count: number): Promise<EngineOutputs<Head>>;
}

export type OpenEngine = <Head extends string>(model: Model<Head>) => Promise<Engine<Head>>;
