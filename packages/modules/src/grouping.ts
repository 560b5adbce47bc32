import { parseQuery, type Query } from '@akin/domain';
import { distanceAt } from './vectors/calibration.ts';
import { codebookOf } from './vectors/codebook.ts';
import { nearestCells } from './vectors/codes.ts';

/** The module whose descriptors tell copies from other pictures. */
export const GROUP_MODULE = 'duplicate';

/**
 * The least score of a member with the representative of its group. Stricter than the 0.7 of a search for copies: a
 * search is asked about one picture, and a wrong hit costs a glance; groups are made of all pairs of a collection.
 */
export const GROUP_SCORE = 0.75;

/**
 * How many cells of the codebook are asked for representatives. Of pairs above {@link GROUP_SCORE} among photos and
 * five edits of each, the second lay in the first's 8 nearest cells in 99.8 % (4 cells: 98.2 %, 1 cell: 79 %).
 */
const CELLS = 8;

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
  readonly cellsOf: (vector: Float32Array) => readonly number[];
  readonly except: Query;
} {
  const codebook = codebookOf(GROUP_MODULE);
  const maxDistance = distanceAt(GROUP_MODULE, GROUP_SCORE);
  return {
    // Groups are made anew when any of this changes.
    name: [codebook.model, Buffer.from(codebook.id).toString('hex'), maxDistance, CELLS, BLANK].join(' '),
    module: GROUP_MODULE,
    maxDistance,
    cellsOf: (vector) => Array.from(nearestCells(codebook, vector).subarray(0, CELLS)),
    except: parseQuery(BLANK, {}),
  };
}
