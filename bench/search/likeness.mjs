import { median } from '../lib/figures.mjs';
import { readPartVectors } from './collection.mjs';
import { nearestRows, rowAt, toRows } from './rows.mjs';

const NEIGHBOURS = 20;
const PROBES = 300;

/**
 * Compares made-up descriptors with the same number of real ones: the distances of the nearest and the tenth neighbour,
 * and the intrinsic dimension (Levina & Bickel 2004, by maximum likelihood).
 */
export async function compareWithReal(model, folder, documents) {
  const real = model.real.get('content');
  const made = await readPartVectors(folder, Math.min(documents, real.count));
  return [
    { title: `${made.count} real pictures`, ...measureRows(shuffled(real, made.count)) },
    { title: `${made.count} documents`, ...measureRows(made) },
  ];
}

function measureRows(rows) {
  const probes = Array.from({ length: Math.min(PROBES, rows.count) }, (_, i) => {
    const near = nearestRows(rows, rows, i, NEIGHBOURS, (j) => j !== i).map(({ distance }) => Math.sqrt(distance));
    const last = near.at(-1);
    // Copies are left out: their distance is near 0, which says nothing about the dimension.
    const apart = near.slice(0, -1).filter((distance) => distance > 1e-3);
    const logs = apart.reduce((total, distance) => total + Math.log(last / distance), 0);
    return { nearest: near[0], tenth: near[9] ?? last, dimension: (apart.length - 1) / logs };
  });
  return Object.fromEntries(
    ['nearest', 'tenth', 'dimension'].map((key) => [key, median(probes.map((probe) => probe[key]))]),
  );
}

/** Takes rows from all parts of the list, so that a few of them contain every kind. */
function shuffled(rows, count) {
  const step = 7919;
  return toRows(Array.from({ length: count }, (_, i) => rowAt(rows, (i * step) % rows.count)));
}
