import { type Calibration, parseQuery, type Query } from '@akin/domain';
import { areShadesOfOne, COLORLESS_RULE } from '../color/colorless.ts';
import { distanceAt, scoreOf } from '../vectors/calibration.ts';
import { codebookOf } from '../vectors/codebook.ts';
import { nearestCells } from '../vectors/codes.ts';

/** The module whose descriptors distinguish copies from other pictures. */
export const GROUP_MODULE = 'duplicate';

/**
 * Minimum score of a member with the representative of its group. It is higher than the threshold of a search for
 * copies: there, a wrong result costs a person only a glance, but groups are made from all pairs of a collection.
 */
export const GROUP_SCORE = 0.74;

/**
 * A pair that scores less than `SURE_SCORE` must also be similar in colour, by at least `COLOR_SCORE`: the descriptor
 * of copies depends only weakly on colour, and the same article in another colour is not a copy. In the demo's
 * drawings, such variants are equal except for the colour, and none scores 0.9 or more. 27 of 36 edited copies there
 * are grouped. Wrongly grouped are pairs of one article in one colour on two backgrounds, and one pair of night scenes.
 * Pairs from `SURE_SCORE` on are copies with changed colours. Black-and-white copies are compared by their shades.
 */
const COLOR_SCORE = 0.85;
const SURE_SCORE = 0.9;

/**
 * Representatives are in finer cells than those of the codebook: a cell is the pair of nearest and second nearest
 * centroid. A descriptor is compared with representatives in the {@link CELLS} most likely cells, by the ranks of the
 * two centroids for it. docs/quality.md says how many pairs they contain. The 8 nearest cells of
 * the codebook contain hardly fewer pairs, but nearly three times as many other photos.
 */
const CELLS = 220;
/** None of the {@link CELLS} most likely pairs contains a centroid with this rank or a higher one. */
const MAX_RANKS = 30;
/** Ranks (from 0) of nearest and second nearest centroid, the most likely pair first. */
const RANKS: readonly (readonly [number, number])[] = Array.from({ length: MAX_RANKS }, (_, nearest) =>
  Array.from({ length: MAX_RANKS }, (_, second) => [nearest, second] as const),
)
  .flat()
  .filter(([nearest, second]) => nearest !== second)
  .sort(([a, b], [c, d]) => 2 * a + b - (2 * c + d) || a - c)
  .slice(0, CELLS);

/**
 * Blank pictures, in which all cells are free: empty pages, plain colours, fog. Unrelated blank pictures have similar
 * descriptors, so they are in no group.
 */
const BLANK = `copyspace:(${[0, 1, 2, 3, 4, 5, 6, 7, 8].join(' AND ')})`;

/** The rule for groups of near-duplicates, in the form that the store needs. */
export function groupRule(): {
  readonly name: string;
  readonly module: string;
  readonly maxDistance: number;
  readonly secondModule: {
    readonly module: string;
    readonly maxDistance: number;
    readonly skipWithin: number;
    readonly isNear: (a: Float32Array, b: Float32Array) => boolean;
  };
  readonly cellsOf: (vector: Float32Array) => readonly number[];
  readonly exclude: Query;
  readonly sameScore: (module: string, distance: number, calibration: Calibration) => number;
} {
  const codebook = codebookOf(GROUP_MODULE);
  const maxDistance = distanceAt(GROUP_MODULE, GROUP_SCORE);
  const secondModule = {
    module: 'color',
    maxDistance: distanceAt('color', COLOR_SCORE),
    skipWithin: distanceAt(GROUP_MODULE, SURE_SCORE),
    isNear: areShadesOfOne,
  };
  return {
    // Groups are computed again when any of these values changes.
    name: [
      codebook.model,
      Buffer.from(codebook.id).toString('hex'),
      maxDistance,
      secondModule.module,
      secondModule.maxDistance,
      secondModule.skipWithin,
      COLORLESS_RULE,
      CELLS,
      BLANK,
    ].join(' '),
    module: GROUP_MODULE,
    maxDistance,
    secondModule,
    cellsOf: (vector) => {
      const order = nearestCells(codebook, vector, MAX_RANKS);
      const { cellCount } = codebook;
      return RANKS.map(([nearest, second]) => (order[nearest] as number) * cellCount + (order[second] as number));
    },
    exclude: parseQuery(BLANK, {}),
    sameScore: (module, distance, calibration) => distanceAt(module, scoreOf(module, distance), calibration),
  };
}
