import { createRandom, roundToHalves } from '@akin/domain';
import { fitCalibration, NON_MATCHING_SCORES } from '@akin/modules/internal/learn/calibration';
import { type Rows, row, toRows } from '@akin/modules/internal/learn/rows';
import type { CalibrationScores } from '@akin/modules/internal/module';
import { CODEWORDS, hashNumbers } from '@akin/modules/internal/vectors/codebook';
import { rotateResidual } from '@akin/modules/internal/vectors/codes';
import { writeSafetensors } from '@akin/modules/internal/weights/safetensors';
import { kMeans } from './kmeans.ts';
import { covariance, eigen } from './linear.ts';
import { trainSignature } from './signature.ts';

/** Small training sets get fewer cells: one for this many pictures. */
const PICTURES_A_CELL = 16;
const MAX_CELLS = 256;
/** Adjacent cells share a rotation: 8 rotations of 256x256 half-precision numbers take 1 MB. */
const ROTATIONS = 8;
/** Size of a subspace; each is coded in one byte. */
const SUBSPACE_WIDTH = 8;
const CELL_ITERATIONS = 40;
const WORD_ITERATIONS = 25;

export interface Training {
  readonly module: string;
  readonly model: string;
  /** Descriptors of the training pictures, in half precision. */
  readonly vectors: Rows;
  readonly scores?: CalibrationScores | undefined;
  readonly seed: number;
}

/** Trains the codebook of a module and returns the bytes of its file. Equal input gives equal bytes. */
export function trainCodebook({ module, model, vectors, scores, seed }: Training): Uint8Array {
  const random = createRandom(seed);
  const dimensions = vectors.width;
  const cellCount = Math.max(1, Math.min(MAX_CELLS, Math.floor(vectors.count / PICTURES_A_CELL)));
  // Every part is rounded to half precision immediately, so that later parts are trained on the numbers that will be
  // read from the file.
  const { centers, nearest } = kMeans(vectors, cellCount, CELL_ITERATIONS, random);
  const cells: Rows = { ...centers, values: roundToHalves(centers.values) };
  const rotationCount = Math.min(ROTATIONS, cellCount);
  const rotationOfCell = Float32Array.from(kMeans(cells, rotationCount, CELL_ITERATIONS, random).nearest);
  const rotations = trainRotations(
    residuals(vectors, cells, nearest),
    rotationCount,
    (i) => rotationOfCell[nearest[i] as number],
  );
  const turned = toRows(
    Array.from(nearest, (cell, i) =>
      rotateResidual({ dimensions, cells: cells.values, rotations, rotationOfCell }, row(vectors, i), cell),
    ),
    dimensions,
  );
  const subspaces = dimensions / SUBSPACE_WIDTH;
  const quantizers = Float32Array.from(
    Array.from({ length: subspaces }, (_, i) => [
      ...kMeans(columns(turned, i * SUBSPACE_WIDTH, SUBSPACE_WIDTH), CODEWORDS, WORD_ITERATIONS, random).centers.values,
    ]).flat(),
  );
  const { planes, offsets } = trainSignature(vectors, random);

  const tensors = {
    cells: { shape: [cellCount, dimensions], values: cells.values },
    rotation_of_cell: { shape: [cellCount], values: rotationOfCell },
    rotations: { shape: [rotationCount, dimensions, dimensions], values: rotations },
    quantizers: { shape: [subspaces, CODEWORDS, SUBSPACE_WIDTH], values: quantizers },
    planes: { shape: [planes.length / dimensions, dimensions], values: planes },
    offsets: { shape: [offsets.length], values: offsets },
  };
  const metadata = {
    module,
    model,
    cells: String(cellCount),
    rotations: String(rotationCount),
    subspaces: String(subspaces),
    pictures: String(vectors.count),
    seed: String(seed),
    calibration: JSON.stringify(fitCalibration(vectors, scores ?? NON_MATCHING_SCORES)),
  };
  const sha256 = hashNumbers(writeSafetensors(tensors, {})).toString('hex');
  return writeSafetensors(tensors, { ...metadata, sha256 });
}

function residuals(vectors: Rows, cells: Rows, nearest: Uint32Array): Rows {
  const values = new Float32Array(vectors.values.length);
  for (let i = 0; i < vectors.count; i++) {
    const center = row(cells, nearest[i] as number);
    for (let j = 0; j < vectors.width; j++) {
      values[i * vectors.width + j] = (vectors.values[i * vectors.width + j] as number) - (center[j] as number);
    }
  }
  return { ...vectors, values };
}

/**
 * A rotation for each group of cells: the principal axes of its residuals, distributed so that all subspaces have about
 * the same product of variances ("eigenvalue allocation", Ge, He, Ke & Sun 2013). The distribution is the same for all
 * groups, because they share their codewords.
 */
function trainRotations(all: Rows, count: number, groupOf: (row: number) => number | undefined): Float32Array {
  const { width } = all;
  const zero = new Float64Array(width);
  const common = covariance(all, zero);
  const order = allocateAxes(eigen(common, width).values);
  const rotations = new Float32Array(count * width * width);
  for (let group = 0; group < count; group++) {
    const members = Array.from({ length: all.count }, (_, i) => i).filter((i) => groupOf(i) === group);
    const own = covariance(
      toRows(
        members.map((i) => row(all, i)),
        width,
      ),
      zero,
    );
    // A few residuals say little about many axes, so the common covariance has the weight of `2 * width` residuals.
    const share = members.length / (members.length + 2 * width);
    const { vectors } = eigen(
      own.map((value, i) => share * value + (1 - share) * (common[i] as number)),
      width,
    );
    for (const [to, from] of order.entries()) {
      rotations.set(vectors.subarray(from * width, (from + 1) * width), (group * width + to) * width);
    }
  }
  return roundToHalves(rotations);
}

/** Assigns axes, by descending variance, to the subspace with the smallest product that is not full. */
function allocateAxes(variances: Float64Array): number[] {
  const subspaces = Array.from({ length: variances.length / SUBSPACE_WIDTH }, () => ({ axes: [] as number[], log: 0 }));
  for (const [axis, variance] of variances.entries()) {
    const open = subspaces.filter(({ axes }) => axes.length < SUBSPACE_WIDTH);
    const next = open.reduce((best, subspace) => (subspace.log < best.log ? subspace : best));
    next.axes.push(axis);
    next.log += Math.log(Math.max(variance, 1e-12) / 1e-12);
  }
  return subspaces.flatMap(({ axes }) => axes);
}

function columns(rows: Rows, from: number, width: number): Rows {
  return toRows(
    Array.from({ length: rows.count }, (_, i) => row(rows, i).subarray(from, from + width)),
    width,
  );
}
