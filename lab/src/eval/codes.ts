import { COPY_SCORE } from '@akin/modules/internal/duplicate/copy-score';
import { type Codebook, codebookOf } from '@akin/modules/internal/vectors/codebook';
import { encodeCodes, nearestCells } from '@akin/modules/internal/vectors/codes';
import { distance } from '@akin/modules/internal/vectors/unit';
import { scoreOf } from '@akin/modules/vectors';
import type { Edited } from './copies.ts';
import { meanOf } from './ranking.ts';

/** Recall of the 10 nearest neighbours by codes. */
export interface CodeFigures {
  readonly inCells8: number;
  readonly inCells16: number;
  readonly inOwnCell: number;
  readonly inLopq50: number;
  /** NaN if 2 % are fewer than 20. */
  readonly inRerank2Percent: number;
}

/**
 * Of the edits that score 0.7 or more with their picture by `duplicate`: the share whose picture is found by a code.
 */
export interface CopyCodeFigures {
  readonly inCells8: number;
  readonly inRerank2Percent: number;
}

const NEAREST = 10;
const ASKED = 300;
const RERANKED = 0.02;
const BY_LOPQ = 50;
const LOPQ_HEADER = 5;

/** Recall at 10 of a module's codes, on vectors that were not used to train its codebook. */
export function measureCodes(module: string, vectors: readonly Float32Array[]): CodeFigures {
  const codebook = codebookOf(module);
  const codes = vectors.map((vector) => {
    const { cluster, lopq, rerank } = encodeCodes(codebook, vector);
    const decoded = decodeLopq(codebook, cluster, Buffer.from(lopq, 'base64').subarray(LOPQ_HEADER));
    return { cluster, decoded, rerank };
  });
  const none = () => [] as number[];
  const recall = {
    inCells8: none(),
    inCells16: none(),
    inOwnCell: none(),
    inLopq50: none(),
    inRerank2Percent: none(),
  };
  const step = Math.max(1, Math.floor(vectors.length / ASKED));
  for (let asked = 0; asked < vectors.length; asked += step) {
    const vector = vectors[asked] as Float32Array;
    const others = Uint32Array.from(vectors.keys()).filter((i) => i !== asked);
    const first = (count: number, far: (i: number) => number) => {
      const by = Float64Array.from(vectors.keys(), (i) => (i === asked ? 0 : far(i)));
      return Array.from(others.toSorted((a, b) => (by[a] as number) - (by[b] as number) || a - b).subarray(0, count));
    };
    const truth = first(NEAREST, (i) => distance(vector, vectors[i] as Float32Array));
    const kept = (has: (i: number) => boolean) => truth.filter(has).length / truth.length;
    const cells = nearestCells(codebook, vector, 16);
    const within = (count: number) => {
      const near = new Set(cells.subarray(0, count));
      return kept((i) => near.has(codes[i]?.cluster ?? -1));
    };
    recall.inOwnCell.push(within(1));
    recall.inCells8.push(within(8));
    recall.inCells16.push(within(16));
    // Among only a few others, the first would contain the nearest by chance.
    if (others.length >= 2 * BY_LOPQ) {
      const byLopq = new Set(first(BY_LOPQ, (i) => distance(vector, (codes[i] as (typeof codes)[number]).decoded)));
      recall.inLopq50.push(kept((i) => byLopq.has(i)));
    }
    const reranked = Math.ceil(RERANKED * others.length);
    if (reranked < 2 * NEAREST) continue;
    const own = codes[asked]?.rerank ?? 0n;
    const byRerank = new Set(first(reranked, (i) => bitCount(own ^ (codes[i]?.rerank ?? 0n))));
    recall.inRerank2Percent.push(kept((i) => byRerank.has(i)));
  }
  return {
    inCells8: meanOf(recall.inCells8),
    inCells16: meanOf(recall.inCells16),
    inOwnCell: meanOf(recall.inOwnCell),
    inLopq50: meanOf(recall.inLopq50),
    inRerank2Percent: meanOf(recall.inRerank2Percent),
  };
}

/**
 * Of the edits that score as copies of their picture: how often a search by a code finds the picture, although
 * non-matching pairs are about as near by that code as by the descriptor.
 */
export function measureCopyCodes(
  pictures: readonly Readonly<Record<string, Float32Array>>[],
  edited: readonly Edited[],
): CopyCodeFigures {
  const codebook = codebookOf('duplicate');
  const codes = pictures.map(({ duplicate }) => encodeCodes(codebook, duplicate as Float32Array));
  const kept = Math.ceil(RERANKED * pictures.length);
  const [inCells8, inRerank2Percent] = [[] as number[], [] as number[]];
  for (const { picture, edits } of edited) {
    const original = codes[picture] as (typeof codes)[number];
    for (const { vectors } of edits) {
      const vector = vectors.duplicate as Float32Array;
      const apart = distance(vector, pictures[picture]?.duplicate as Float32Array);
      if (scoreOf('duplicate', apart) < COPY_SCORE) continue;
      const { rerank } = encodeCodes(codebook, vector);
      const far = bitCount(rerank ^ original.rerank);
      const nearer = codes.filter((code) => bitCount(rerank ^ code.rerank) < far).length;
      inRerank2Percent.push(nearer < kept ? 1 : 0);
      inCells8.push(nearestCells(codebook, vector, 8).includes(original.cluster) ? 1 : 0);
    }
  }
  return { inCells8: meanOf(inCells8), inRerank2Percent: meanOf(inRerank2Percent) };
}

function bitCount(bits: bigint): number {
  const low = Number(BigInt.asUintN(32, bits));
  const high = Number(BigInt.asUintN(32, bits >> 32n));
  let count = 0;
  for (let left = low | 0; left !== 0; left &= left - 1) count++;
  for (let left = high | 0; left !== 0; left &= left - 1) count++;
  return count;
}

/** Decodes a cell and a code to the approximate vector: the cell's centroid plus the codewords, rotated back. */
function decodeLopq(codebook: Codebook, cell: number, code: Uint8Array): Float64Array {
  const { subspaces, dimensions, quantizers, cells, rotations, rotationOfCell } = codebook;
  const width = dimensions / subspaces;
  const vector = Float64Array.from(cells.subarray(cell * dimensions, (cell + 1) * dimensions));
  let at = (rotationOfCell[cell] as number) * dimensions * dimensions;
  for (let row = 0; row < dimensions; row++) {
    const subspace = Math.floor(row / width);
    const value = quantizers[(256 * subspace + (code[subspace] as number)) * width + (row % width)] as number;
    for (let i = 0; i < dimensions; i++, at++) vector[i] = (vector[i] as number) + value * (rotations[at] as number);
  }
  return vector;
}
