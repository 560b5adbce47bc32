import { createHash } from 'node:crypto';
import { type Calibration, createRandom, roundToHalves } from '@akin/domain';
import { calibrationAt, NON_MATCHING_SCORES } from '../learn/calibration.ts';
import { CODEWORDS, type Codebook, SIGNATURE_BITS } from '../vectors/codebook.ts';
import type { Cosines } from './config.ts';
import { type ModelFolder, readCalibration } from './files.ts';

const CELLS = 256;
const SUBSPACE_WIDTH = 8;

/**
 * The codebook of a model without training on the user's pictures. It consists of pseudorandom numbers with a fixed
 * seed, so that it is the same everywhere. With random hyperplanes through the origin (Charikar, STOC 2002), the
 * Hamming distance follows the angle without training. Cells and codes are coarser than trained ones, but akin's
 * searches do not depend on them. Scores use typical values of the model family, or values measured by `akin train`.
 */
export function untrainedCodebook(model: ModelFolder): Codebook {
  const { dimensions, family } = model.config;
  const random = createRandom(1);
  // The sum of four uniform numbers is close enough to a normal distribution, and the same on every machine, unlike
  // logarithms.
  const normal = () => (random() + random() + random() + random() - 2) * Math.sqrt(3);
  const numbers = (count: number, scale: number) => {
    const drawn = new Float32Array(count);
    for (let i = 0; i < count; i++) drawn[i] = normal() * scale;
    return roundToHalves(drawn);
  };
  const unit = 1 / Math.sqrt(dimensions);
  const cells = numbers(CELLS * dimensions, unit * Math.sqrt((2 * Math.log(CELLS)) / dimensions));
  const subspaces = dimensions / SUBSPACE_WIDTH;
  const quantizers = numbers(subspaces * CODEWORDS * SUBSPACE_WIDTH, unit);
  const planes = numbers(SIGNATURE_BITS * dimensions, 1);
  const rotations = new Float32Array(dimensions * dimensions);
  for (let i = 0; i < dimensions; i++) rotations[i * (dimensions + 1)] = 1;
  const hash = createHash('sha256');
  for (const { buffer } of [cells, quantizers, planes]) hash.update(new Uint8Array(buffer));
  return {
    id: hash.digest().subarray(0, 4),
    model: model.id,
    dimensions,
    cellCount: CELLS,
    cells,
    rotationOfCell: new Float32Array(CELLS),
    rotations,
    subspaces,
    quantizers,
    planes,
    offsets: new Float32Array(SIGNATURE_BITS),
    vector: family.kind,
    calibration: readCalibration(model) ?? picturesCalibration(family.pictures),
    ...(model.words === undefined || family.words === undefined
      ? {}
      : { textCalibration: textCalibration(family.words) }),
  };
}

function picturesCalibration(cosines: Cosines): Calibration {
  const [rare, usual] = [distanceOf(cosines.rare), distanceOf(cosines.usual)];
  return calibrationAt({ near: NON_MATCHING_SCORES.nearAt * rare, rare, usual }, NON_MATCHING_SCORES);
}

/** Vectors of texts and pictures are far apart even if they match: matching pairs score 0.7. */
function textCalibration({ usual, rare, fits }: Cosines & { readonly fits: number }): Calibration {
  const distances = { near: distanceOf(fits), rare: distanceOf(rare), usual: distanceOf(usual) };
  return calibrationAt(distances, NON_MATCHING_SCORES);
}

function distanceOf(cosine: number): number {
  return Math.sqrt(2 - 2 * cosine);
}
