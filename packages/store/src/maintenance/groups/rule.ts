import type { Calibration, Query } from '@akin/domain';
import type { Store } from '../../changes/context.ts';
import type { Collection } from '../../database/context.ts';

export interface GroupRule {
  /** The name must change with the definition: groups that a rule with another name made are rebuilt. */
  readonly name: string;
  readonly module: string;
  /** Maximum L2 distance between the representative of a group and any member. */
  readonly maxDistance: number;
  /**
   * Pairs farther apart than `skipWithin` must also be within `maxDistance` by the descriptors of this module, if both
   * have one, or near in another way.
   */
  readonly secondModule?:
    | {
        readonly module: string;
        readonly maxDistance: number;
        readonly skipWithin: number;
        readonly isNear?: ((a: Float32Array, b: Float32Array) => boolean) | undefined;
      }
    | undefined;
  /**
   * The cells to search for the representative of a descriptor, nearest first. A new representative is put into the
   * first. With fewer cells, more near pairs are missed. Undefined: the descriptor is compared with all
   * representatives.
   */
  readonly cellsOf: ((vector: Float32Array) => readonly number[]) | undefined;
  /**
   * Matching documents are never in a group: nothing in their pictures distinguishes copies from non-matching pairs.
   */
  readonly exclude?: Query | undefined;
  /**
   * The distance of another calibration with the same score as a distance of the rule. If this function is missing,
   * groups of descriptors of another model do not change.
   */
  readonly sameScore?: (module: string, distance: number, calibration: Calibration) => number;
}

/** The cell of a representative that no process with the model of its descriptor has seen yet. */
export const NO_CELL = -1;

/** The update of the groups of one collection. */
export interface Grouping {
  readonly store: Store;
  readonly collection: Collection;
  readonly rule: GroupRule;
  /** Ends the update between two steps. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The rule for a collection with descriptors of other models: the same scores, by its stored calibrations. Cells of
 * this process have no meaning there.
 *
 * @param others the modules whose descriptors are of other models
 * @returns undefined if a calibration was never stored
 */
export function ruleByCalibrations(
  rule: GroupRule,
  others: readonly string[],
  kept: ReadonlyMap<string, Calibration>,
): GroupRule | undefined {
  const { secondModule, sameScore } = rule;
  if (sameScore === undefined || !others.every((module) => kept.has(module))) return undefined;
  const by = (module: string, distance: number) => {
    const calibration = others.includes(module) ? kept.get(module) : undefined;
    return calibration ? sameScore(module, distance, calibration) : distance;
  };
  return {
    ...rule,
    maxDistance: by(rule.module, rule.maxDistance),
    secondModule: secondModule && {
      module: secondModule.module,
      maxDistance: by(secondModule.module, secondModule.maxDistance),
      skipWithin: by(rule.module, secondModule.skipWithin),
      isNear: others.includes(secondModule.module) ? undefined : secondModule.isNear,
    },
    cellsOf: undefined,
  };
}
