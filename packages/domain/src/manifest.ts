import type { FieldType } from './schema.ts';

/** One key of the outputs of a module. */
export interface OutputField {
  readonly name: string;
  readonly type: FieldType;
  /** False: a search returns the field only when `fl` names it. */
  readonly returnedByDefault: boolean;
  /** Whether its text is base64 of bytes, which are a column of their own. They can be read, but not searched. */
  readonly isBytes?: boolean;
  /** Regular expression for each text of outputs that a client sends back; it must match the whole text. */
  readonly pattern?: string;
  /** Minimum and maximum of each number of outputs that a client sends back. */
  readonly range?: readonly [least: number, greatest: number];
}

/**
 * Describes a module of the analysis. `store` derives its columns and tables from the manifest, the gateway its
 * parameters. Neither contains the name of a module.
 */
export interface ModuleManifest {
  readonly name: string;
  readonly outputs: readonly OutputField[];
  /** True: it analyzes only where it is asked for by name. */
  readonly isOptional?: boolean;
  /** The output that contains the points of a picture, by which parts of pictures are found. */
  readonly points?: string;
  /**
   * The vector used for ranking, if the module has one. Ranking is by L2 distance of unit vectors in half precision.
   */
  readonly descriptor?: {
    /** The output that contains the descriptor. */
    readonly output: string;
    /** The output that contains the index of the nearest coarse centroid. */
    readonly cell: string;
    readonly dimensions: number;
  };
}

/**
 * Converts the distance between descriptors of one model to a score: points (distance, score) by ascending distance,
 * from (0, 1) to (2, 0).
 */
export type Calibration = readonly (readonly [distance: number, score: number])[];
