import type { FieldType } from './schema.ts';

/** One key of the outputs of a module. */
export interface OutputField {
  readonly name: string;
  readonly type: FieldType;
  /** False: a search returns the field only when `fl` names it. */
  readonly returnedByDefault: boolean;
  /** What each text must match from end to end when outputs are sent back, as the source of a regular expression. */
  readonly pattern?: string;
  /** The least and the greatest that each number may be when outputs are sent back. */
  readonly range?: readonly [least: number, greatest: number];
}

/**
 * What a module of the analysis is, known without running it: `store` builds its columns and tables from this, the
 * gateway its parameters. Neither ever names a module.
 */
export interface ModuleManifest {
  readonly name: string;
  readonly outputs: readonly OutputField[];
  /** The vector that ranking uses, if the module has one. Ranking is by L2 distance of unit vectors in half precision. */
  readonly descriptor?: {
    /** The output that holds the descriptor. */
    readonly output: string;
    /** The output that holds the index of the nearest coarse centroid. */
    readonly cell: string;
    readonly dimensions: number;
  };
}

/**
 * What makes scores of the distances between descriptors of one model: points (distance, score) by rising distance, from
 * (0, 1) to (2, 0).
 */
export type Calibration = readonly (readonly [distance: number, score: number])[];
