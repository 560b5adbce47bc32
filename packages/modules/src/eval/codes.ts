import { type Codebook, codebookOf } from '../vectors/codebook.ts';
import { encodeCodes, nearestCells, rotateResidual } from '../vectors/codes.ts';
import { distance } from '../vectors/unit.ts';
import { scoreOf } from '../vectors.ts';
import { COPY_SCORE, type Edited } from './copies.ts';
import { meanOf } from './ranking.ts';

/** Shares of the 10 nearest of all others that a code keeps. */
export interface CodeFigures {
  readonly inCells8: number;
  readonly inCells16: number;
  readonly inOwnCell: number;
  readonly inLopq50: number;
  /** NaN where 2 % are fewer than 20. */
  readonly inRerank2Percent: number;
}

/** Shares of the edits that score 0.7 or more with their picture by `duplicate`, whose picture a code keeps. */
export interface CopyCodeFigures {
  readonly inCells8: number;
  readonly inRerank2Percent: number;
}

const NEAREST = 10;
const ASKED = 300;
const RERANKED = 0.02;
const LOPQ_HEADER = 5;

/** Recall at 10 of the codes of a module on vectors that its codebook was not trained on. */
export function measureCodes(module: string, vectors: readonly Float32Array[]): CodeFigures {
  const codebook = codebookOf(module);
  const codes = vectors.map((vector) => {
    const { cluster, lopq, rerank } = encodeCodes(codebook, vector);
    return { cluster, lopq: Buffer.from(lopq, 'base64').subarray(LOPQ_HEADER), rerank };
  });
  const recall = { inCells8: [0], inCells16: [0], inOwnCell: [0], inLopq50: [0], inRerank2Percent: [0] };
  for (const list of Object.values(recall)) list.length = 0;
  const step = Math.max(1, Math.floor(vectors.length / ASKED));
  for (let asked = 0; asked < vectors.length; asked += step) {
    const vector = vectors[asked] as Float32Array;
    const others = vectors.map((_, i) => i).filter((i) => i !== asked);
    const first = (count: number, far: (i: number) => number) => {
      const by = new Map(others.map((i) => [i, far(i)]));
      return others.toSorted((a, b) => (by.get(a) ?? 0) - (by.get(b) ?? 0)).slice(0, count);
    };
    const truth = first(NEAREST, (i) => distance(vector, vectors[i] as Float32Array));
    const kept = (has: (i: number) => boolean) => truth.filter(has).length / truth.length;
    const cells = nearestCells(codebook, vector);
    const within = (count: number) => {
      const near = new Set(cells.subarray(0, count));
      return kept((i) => near.has(codes[i]?.cluster ?? -1));
    };
    recall.inOwnCell.push(within(1));
    recall.inCells8.push(within(8));
    recall.inCells16.push(within(16));
    const estimate = lopqDistance(codebook, vector);
    const byLopq = new Set(first(50, (i) => estimate(codes[i]?.cluster ?? 0, codes[i]?.lopq ?? Buffer.alloc(0))));
    recall.inLopq50.push(kept((i) => byLopq.has(i)));
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
 * Of the edits that score as copies of their picture: how often a search that begins with a code comes upon it, though
 * strangers are about as near to one another by that code as they are by the descriptor.
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
      inCells8.push(nearestCells(codebook, vector).subarray(0, 8).includes(original.cluster) ? 1 : 0);
    }
  }
  return { inCells8: meanOf(inCells8), inRerank2Percent: meanOf(inRerank2Percent) };
}

function bitCount(bits: bigint): number {
  let count = 0;
  for (let left = BigInt.asUintN(64, bits); left > 0n; left &= left - 1n) count++;
  return count;
}

/** The squared distance of a vector and what a cell and a code stand for. */
function lopqDistance(codebook: Codebook, vector: Float32Array): (cell: number, code: Uint8Array) => number {
  const turned = new Map<number, Float64Array>();
  const { subspaces, dimensions, quantizers } = codebook;
  const width = dimensions / subspaces;
  return (cell, code) => {
    const residual = turned.get(cell) ?? rotateResidual(codebook, vector, cell);
    turned.set(cell, residual);
    let sum = 0;
    for (let subspace = 0; subspace < subspaces; subspace++) {
      const at = (256 * subspace + (code[subspace] as number)) * width;
      for (let i = 0; i < width; i++) {
        sum += ((residual[subspace * width + i] as number) - (quantizers[at + i] as number)) ** 2;
      }
    }
    return sum;
  };
}
