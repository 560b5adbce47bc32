import { MODULES } from '@akin/modules/manifests';
import { createDice } from '../lib/random.mjs';
import { nearestRows, rowAt, toRows } from './rows.mjs';

/** So many neighbours of a picture span the directions in which what is made up around it may lie. */
const NEIGHBOURS = 12;
/** What lies outside these directions, as a share of the distance to the nearest neighbours. */
const ISOTROPIC = 0.1;
/** One document in this many is nearly a copy of the one before: the same picture, saved again. */
const COPY_EVERY = 50;
const COPY_NOISE = 0.01;

/**
 * Any number of descriptors with the density and the intrinsic dimension of real ones: each is a real descriptor that
 * is displaced towards its own neighbours.
 *
 * @param {Map<string, import('./rows.mjs').Rows>} real by module
 */
export function createDensity(real) {
  const modules = [...real].map(([name, rows]) => ({ name, rows, neighbours: neighboursOf(rows) }));
  const count = modules[0].rows.count;

  /** The descriptors of a document by its number, and which real picture it was made up around. */
  function draw(number, seed = 1) {
    const copy = number % COPY_EVERY === COPY_EVERY - 1;
    const dice = createDice(Math.imul(copy ? number - 1 : number, 0x9e3779b1) + seed);
    const around = dice.whole(count);
    const vectors = new Map(
      modules.map(({ name, rows, neighbours }) => {
        const vector = nearby(rows, neighbours, around, dice);
        return [name, copy ? shaken(vector, COPY_NOISE, createDice(number)) : vector];
      }),
    );
    return { around, vectors };
  }
  return { count, draw };
}

function nearby(rows, neighbours, around, dice) {
  const { width, values } = rows;
  const vector = Float64Array.from(rowAt(rows, around));
  let reach = 0;
  // As far off as one of the neighbours on average: then the distances between nearest neighbours are the real ones.
  const scale = 1 / Math.sqrt(NEIGHBOURS);
  for (const { row, distance } of neighbours[around]) {
    const weight = dice.normal() * scale;
    reach += distance;
    for (let i = 0, at = row * width, own = around * width; i < width; i++, at++, own++) {
      vector[i] += weight * (values[at] - values[own]);
    }
  }
  return shaken(vector, ISOTROPIC * Math.sqrt(reach / neighbours[around].length), dice);
}

/** A vector of length 1, off by about `amount` in any direction. */
function shaken(vector, amount, dice) {
  // The sides of a cube are as good as a ball here, and cost a tenth.
  const step = (amount * Math.sqrt(12)) / Math.sqrt(vector.length);
  const moved = vector.map((value) => value + step * (dice.number() - 0.5));
  const length = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0));
  return moved.map((value) => value / length);
}

function neighboursOf(rows) {
  const most = Math.min(NEIGHBOURS, rows.count - 1);
  return Array.from({ length: rows.count }, (_, i) => nearestRows(rows, rows, i, most, (j) => j !== i));
}

/** Real descriptors of pictures that were analyzed. */
export function realDescriptors(seeds) {
  const names = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => name);
  return new Map(names.map((name) => [name, toRows(seeds.map(({ outputs }) => outputs.descriptors.get(name).vector))]));
}
