import { GROUP_SCORE } from '../duplicate/grouping.ts';
import { partsManifest } from './manifest.ts';

/** The score that a pair of pictures without a common part reaches once in a million. */
export const SURE_PART_SCORE = 0.7;
/** By the descriptors of copies, from this score on a pair is probably one. */
export const NEAR_PART_SCORE = 0.6;
/** The strength with that score, for a pair that only its points speak for, and for one that is probably a copy. */
const SURE_STRENGTH = { alone: 8.6, near: 5 };

const OFFSET = (1 - SURE_PART_SCORE) / SURE_PART_SCORE;

/**
 * The score of a strength, from 0 to 1. It only approaches 1: the same picture in another size has fewer points in
 * common.
 *
 * @param isNear whether the descriptors of copies are similar, too
 */
export function partScore(strength: number, isNear = false): number {
  const score = strength / (strength + OFFSET * SURE_STRENGTH[isNear ? 'near' : 'alone']);
  // Rounded, so that 1 minus the score is exact, and the score is the same again after that.
  return Math.round(score * 2 ** 40) / 2 ** 40;
}

/** Which pictures of a collection are listed as parts of others. Their least score is that of groups. */
export const PART_RULE: { readonly module: string; readonly minStrength: number } = {
  module: partsManifest.name,
  minStrength: (GROUP_SCORE / (1 - GROUP_SCORE)) * OFFSET * SURE_STRENGTH.alone,
};
