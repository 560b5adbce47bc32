import { MODULES } from '@akin/modules/manifests';
import { createDice } from '../lib/random.mjs';
import { nearestRows, rowAt, toRows } from './rows.mjs';

/** Number of neighbours of a real picture that span a subspace. Made-up vectors near that picture mostly lie in it. */
const NEIGHBOURS = 12;
/** Length of the noise in any direction that is added, as a share of the distance to these neighbours. */
const ISOTROPIC = 0.1;
/** One of this many documents is nearly a copy of the previous one, like the same picture saved again. */
const COPY_EVERY = 50;
const COPY_NOISE = 0.01;

/**
 * Creates any number of descriptors with the density and the intrinsic dimension of real ones. Each is a real
 * descriptor that is displaced towards its own neighbours.
 *
 * @param {Map<string, import('./rows.mjs').Rows>} real by module
 */
export function createDensity(real) {
  const modules = [...real].map(([name, rows]) => ({ name, rows, neighbours: neighboursOf(rows) }));
  const count = modules[0].rows.count;

  /** Draws the descriptors of the document with a number. Also returns the real picture around which it is made up. */
  function draw(number, seed = 1) {
    const copy = number % COPY_EVERY === COPY_EVERY - 1;
    const dice = createDice(Math.imul(copy ? number - 1 : number, 0x9e3779b1) + seed);
    const around = dice.whole(count);
    const vectors = new Map(
      modules.map(({ name, rows, neighbours }) => {
        const vector = nearby(rows, neighbours, around, dice);
        return [name, copy ? perturbed(vector, COPY_NOISE, createDice(number)) : vector];
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
  // The offset is as long as the mean distance of a neighbour, so that distances between nearest neighbours are like
  // real ones.
  const scale = 1 / Math.sqrt(NEIGHBOURS);
  for (const { row, distance } of neighbours[around]) {
    const weight = dice.normal() * scale;
    reach += distance;
    for (let i = 0, at = row * width, own = around * width; i < width; i++, at++, own++) {
      vector[i] += weight * (values[at] - values[own]);
    }
  }
  return perturbed(vector, ISOTROPIC * Math.sqrt(reach / neighbours[around].length), dice);
}

/** Returns a vector of length 1 that is off by about `amount` in any direction. */
function perturbed(vector, amount, dice) {
  // A cube serves as well as a ball here, and drawing from it takes a tenth of the time.
  const step = (amount * Math.sqrt(12)) / Math.sqrt(vector.length);
  const moved = vector.map((value) => value + step * (dice.number() - 0.5));
  const length = Math.sqrt(moved.reduce((sum, value) => sum + value * value, 0));
  return moved.map((value) => value / length);
}

function neighboursOf(rows) {
  const most = Math.min(NEIGHBOURS, rows.count - 1);
  return Array.from({ length: rows.count }, (_, i) => nearestRows(rows, rows, i, most, (j) => j !== i));
}

/** The descriptors of analyzed pictures, by module. */
export function realDescriptors(seeds) {
  const names = MODULES.filter(({ descriptor }) => descriptor).map(({ name }) => name);
  return new Map(names.map((name) => [name, toRows(seeds.map(({ outputs }) => outputs.descriptors.get(name).vector))]));
}
