import { parentPort } from 'node:worker_threads';
import { decodeHalfvec } from '../engine/binary.ts';
import { CellFinder, type Codebook } from './codebook.ts';
import { createRandom } from './random.ts';
import { trainCodebook } from './train.ts';

/** Vectors as `halfvec_send` gives them, one behind the other. */
export type WorkerRequest =
  | { readonly kind: 'train'; readonly vectors: Uint8Array; readonly dimensions: number; readonly cells: number }
  | { readonly kind: 'assign'; readonly vectors: Uint8Array; readonly dimensions: number };

export type WorkerReply =
  | { readonly kind: 'trained'; readonly codebook: Codebook }
  /** The cell of each vector and how far it lies from the centroid. */
  | { readonly kind: 'assigned'; readonly cells: Int32Array; readonly distances: Float32Array };

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread');

let finder: CellFinder | undefined;

port.on('message', (request: WorkerRequest) => {
  const rows = decodeRows(request.vectors, request.dimensions);
  if (request.kind === 'train') {
    const codebook = trainCodebook(rows, request.dimensions, request.cells, createRandom(1));
    finder = new CellFinder(codebook);
    port.postMessage({ kind: 'trained', codebook } satisfies WorkerReply);
    return;
  }
  if (finder === undefined) throw new Error('cells are assigned before they are trained');
  const count = rows.length / request.dimensions;
  const cells = new Int32Array(count);
  const distances = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const cell = finder.cellOf(rows, i * request.dimensions);
    cells[i] = cell;
    distances[i] = finder.distance(cell, rows, i * request.dimensions);
  }
  port.postMessage({ kind: 'assigned', cells, distances } satisfies WorkerReply);
});

function decodeRows(bytes: Uint8Array, dimensions: number): Float32Array {
  const width = 4 + 2 * dimensions;
  const rows = new Float32Array((bytes.length / width) * dimensions);
  for (let from = 0, to = 0; from < bytes.length; from += width, to += dimensions) {
    rows.set(decodeHalfvec(bytes.subarray(from, from + width)), to);
  }
  return rows;
}
