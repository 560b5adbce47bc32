import type { Model } from './model.ts';

/** What an engine computes for a batch: the rows of its pictures one after the other, heads before normalization. */
export type EngineOutputs<Head extends string> = Readonly<Record<'pool' | Head, Float32Array>>;

/** The forward pass of a model, laid out in one backend. */
interface Engine<Head extends string> {
  /** @param values `count` pictures of height × width × 3 scaled numbers. */
  run(values: Float32Array, count: number): Promise<EngineOutputs<Head>>;
}

export type OpenEngine = <Head extends string>(model: Model<Head>) => Promise<Engine<Head>>;
