import type { Query } from '@akin/domain';

/** What makes documents a group of near-duplicates. */
export interface GroupRule {
  /** Changes with anything below: groups that another rule made are made anew. */
  readonly name: string;
  /** The module whose descriptors are compared. */
  readonly module: string;
  /** The largest L2 distance between the representative of a group and any member. */
  readonly maxDistance: number;
  /**
   * Pairs further apart than `unless` must be within `maxDistance` by the descriptors of this module too, where both
   * have one.
   */
  readonly also?: { readonly module: string; readonly maxDistance: number; readonly unless: number } | undefined;
  /**
   * The cells of a descriptor, nearest first: the first is its own, and it is compared with the representatives of all
   * of them. How many there are decides how many near pairs are missed.
   */
  readonly cellsOf: (vector: Float32Array) => readonly number[];
  /** Documents that match are never in a group: their pictures have nothing by which to tell copies from strangers. */
  readonly except?: Query | undefined;
}
