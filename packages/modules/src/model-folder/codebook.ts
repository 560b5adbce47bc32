import { createHash } from 'node:crypto';
import { type Calibration, createRandom, roundToHalves } from '@akin/domain';
import { NON_MATCHING_SCORES } from '../learn/calibration.ts';
import { CODEWORDS, type Codebook, SIGNATURE_BITS } from '../vectors/codebook.ts';
import type { Cosines } from './config.ts';
import { type ModelFolder, readCalibration } from './files.ts';

const CELLS = 256;
const SUBSPACE_WIDTH = 8;

/**
 * The codebook of a model that was not trained on pictures of the user: all of it is drawn from random numbers of a fixed
 * seed, so that it is the same everywhere. Hyperplanes through the origin (Charikar, STOC 2002) need no training for
 * their Hamming distance to follow the angle; cells and codes are coarser than learned ones, which no search of akin
 * depends on. Scores come from what is typical of models of the family, or from what `akin train` measured.
 */
export function untrainedCodebook(model: ModelFolder): Codebook {
  const { dimensions, family } = model.config;
  const random = createRandom(1);
  // The sum of four uniform numbers is normal enough, and the same on every machine, unlike logarithms.
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
      : { wordsCalibration: wordsCalibration(family.words) }),
  };
}

function picturesCalibration({ usual, rare }: Cosines): Calibration {
  const scores = NON_MATCHING_SCORES;
  return [
    [0, 1],
    [round(scores.nearAt * distanceOf(rare)), scores.near],
    [distanceOf(rare), scores.rare],
    [distanceOf(usual), scores.usual],
    [2, 0],
  ];
}

/** Vectors of texts and pictures are far apart, also of those that fit: these score 0.7. */
function wordsCalibration({ usual, rare, fits }: Cosines & { readonly fits: number }): Calibration {
  const scores = NON_MATCHING_SCORES;
  return [
    [0, 1],
    [distanceOf(fits), scores.near],
    [distanceOf(rare), scores.rare],
    [distanceOf(usual), scores.usual],
    [2, 0],
  ];
}

/** Of unit vectors with this cosine. */
function distanceOf(cosine: number): number {
  return round(Math.sqrt(2 - 2 * cosine));
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}
