import { parseQuery, type Query } from '@akin/domain';
import { distanceAt } from './vectors/calibration.ts';
import { codebookOf } from './vectors/codebook.ts';
import { nearestCells } from './vectors/codes.ts';

/** The module whose descriptors tell copies from other pictures. */
export const GROUP_MODULE = 'duplicate';

/**
 * The least score of a member with the representative of its group. A search for copies is asked about one picture, and a
 * wrong hit costs a glance; groups are made of all pairs of a collection, and so ask for more.
 */
export const GROUP_SCORE = 0.74;

/**
 * A pair that scores less than `SURE_SCORE` must be alike in colour too, by at least `COLOR_SCORE`: the descriptor of
 * copies sees colours weakly, and the same article in another one is no copy. Of the drawings of the demo, where such
 * variants agree to the pixel but for the colour, none scores 0.9 or more; 27 of 36 edited copies are grouped, and of
 * other pairs those of one article in one colour on two backgrounds and one of scenes by night. Pairs above are copies
 * whose colours were changed.
 */
const COLOR_SCORE = 0.85;
const SURE_SCORE = 0.9;

/**
 * Representatives lie in a finer cell than those of the codebook: the nearest centroid and the second nearest. A
 * descriptor is compared with those in the {@link CELLS} cells that are most like its own, by the ranks that the two
 * centroids have for it. Of pairs above {@link GROUP_SCORE} of a photo and one of 27 edits of it, the second lay in
 * them in 99.4 %, of pairs of two edits in 98.8 %, and of other photos 1.7 %. The 8 nearest cells of the codebook hold
 * 99.2 %, 98.4 % and 4.7 %.
 */
const CELLS = 220;
/** Of the likeliest {@link CELLS} pairs none has a centroid from this rank on. */
const MOST_RANKS = 30;
/** Ranks (from 0) of nearest and second nearest centroid, the most likely first. */
const RANKS: readonly (readonly [number, number])[] = Array.from({ length: MOST_RANKS }, (_, nearest) =>
  Array.from({ length: MOST_RANKS }, (_, second) => [nearest, second] as const),
)
  .flat()
  .filter(([nearest, second]) => nearest !== second)
  .sort(([a, b], [c, d]) => 2 * a + b - (2 * c + d) || a - c)
  .slice(0, CELLS);

/**
 * Pictures all parts of which are calm: empty pages, plain colours, fog. Their descriptors are alike whatever they are
 * of, so they are in no group.
 */
const BLANK = `copyspace:(${[0, 1, 2, 3, 4, 5, 6, 7, 8].join(' AND ')})`;

/** What makes pictures a group of near-duplicates, in the form that the store takes. */
export function groupRule(): {
  readonly name: string;
  readonly module: string;
  readonly maxDistance: number;
  readonly also: { readonly module: string; readonly maxDistance: number; readonly unless: number };
  readonly cellsOf: (vector: Float32Array) => readonly number[];
  readonly except: Query;
} {
  const codebook = codebookOf(GROUP_MODULE);
  const maxDistance = distanceAt(GROUP_MODULE, GROUP_SCORE);
  const also = {
    module: 'color',
    maxDistance: distanceAt('color', COLOR_SCORE),
    unless: distanceAt(GROUP_MODULE, SURE_SCORE),
  };
  return {
    // Groups are made again when any of this changes.
    name: [
      codebook.model,
      Buffer.from(codebook.id).toString('hex'),
      maxDistance,
      ...Object.values(also),
      CELLS,
      BLANK,
    ].join(' '),
    module: GROUP_MODULE,
    maxDistance,
    also,
    cellsOf: (vector) => {
      const order = nearestCells(codebook, vector, MOST_RANKS);
      const { cellCount } = codebook;
      return RANKS.map(([nearest, second]) => (order[nearest] as number) * cellCount + (order[second] as number));
    },
    except: parseQuery(BLANK, {}),
  };
}
