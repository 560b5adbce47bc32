import type { Calibration, Query } from '@akin/domain';

/** What makes documents a group of near-duplicates. */
export interface GroupRule {
  /** Changes with anything below: groups that another rule made are made again. */
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
   * of them. How many there are decides how many near pairs are missed. Undefined: with all representatives, in no cell.
   */
  readonly cellsOf: ((vector: Float32Array) => readonly number[]) | undefined;
  /** Documents that match are never in a group: their pictures have nothing by which to tell copies from strangers. */
  readonly except?: Query | undefined;
  /**
   * The distance by another calibration that scores what a distance of the rule scores. Without it, groups of
   * descriptors of another model stay as they are.
   */
  readonly sameScore?: (module: string, distance: number, calibration: Calibration) => number;
}

/** The cell of a representative that no process with the model of its descriptor has seen yet. */
export const NO_CELL = -1;

/**
 * The rule for a collection with descriptors of other models: the same scores by the calibrations that it keeps. Cells
 * of this process mean nothing there.
 *
 * @param others the modules whose descriptors are of other models
 * @returns undefined when a calibration was never kept
 */
export function ruleByCalibrations(
  rule: GroupRule,
  others: readonly string[],
  kept: ReadonlyMap<string, Calibration>,
): GroupRule | undefined {
  const { also, sameScore } = rule;
  if (sameScore === undefined || !others.every((module) => kept.has(module))) return undefined;
  const by = (module: string, distance: number) => {
    const calibration = others.includes(module) ? kept.get(module) : undefined;
    return calibration ? sameScore(module, distance, calibration) : distance;
  };
  return {
    ...rule,
    maxDistance: by(rule.module, rule.maxDistance),
    also: also && {
      module: also.module,
      maxDistance: by(also.module, also.maxDistance),
      unless: by(rule.module, also.unless),
    },
    cellsOf: undefined,
  };
}
