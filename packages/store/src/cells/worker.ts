import { parentPort } from 'node:worker_threads';
import { createRandom } from '@akin/domain/random';
import { decodeHalfvec } from '../engine/binary.ts';
import { CellFinder, type Codebook } from './codebook.ts';
import { trainCodebook } from './train.ts';

/** Vectors as `halfvec_send` gives them, one behind the other. */
export type WorkerRequest =
  | { readonly kind: 'train'; readonly vectors: Uint8Array; readonly dimensions: number; readonly cells: number }
  | { readonly kind: 'assign'; readonly vectors: Uint8Array; readonly dimensions: number }
  | { readonly kind: 'sort' };

/** Assigned vectors by cell. */
export interface Sorted {
  /** Numbers of the vectors, counted from 0 as they came; those of a cell in random order. */
  readonly order: Uint32Array;
  /** The cell of each of them. */
  readonly cells: Int32Array;
  /** How far from the centroid of each cell the farthest one lies. */
  readonly radii: Float32Array;
}

export type WorkerReply =
  | { readonly kind: 'trained'; readonly codebook: Codebook }
  | { readonly kind: 'assigned' }
  | ({ readonly kind: 'sorted' } & Sorted);

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread');
const reply = (message: WorkerReply) => port.postMessage(message);

let finder: CellFinder | undefined;
let radii = new Float32Array(0);
const assigned: number[] = [];

port.on('message', (request: WorkerRequest) => {
  if (request.kind === 'train') {
    const rows = decodeRows(request.vectors, request.dimensions);
    const codebook = trainCodebook(rows, request.dimensions, request.cells, createRandom(1));
    finder = new CellFinder(codebook);
    radii = new Float32Array(finder.count);
    reply({ kind: 'trained', codebook });
  } else if (request.kind === 'assign') {
    assign(decodeRows(request.vectors, request.dimensions), request.dimensions);
    reply({ kind: 'assigned' });
  } else {
    reply({ kind: 'sorted', ...sort() });
  }
});

function assign(rows: Float32Array, dimensions: number): void {
  if (finder === undefined) throw new Error('cells are assigned before they are trained');
  for (let from = 0; from < rows.length; from += dimensions) {
    const cell = finder.cellOf(rows, from);
    assigned.push(cell);
    radii[cell] = Math.max(radii[cell] as number, finder.distance(cell, rows, from));
  }
}

function sort(): Sorted {
  const sizes = new Int32Array(radii.length);
  for (const cell of assigned) sizes[cell] = (sizes[cell] as number) + 1;
  const places = new Int32Array(radii.length);
  for (let cell = 1; cell < sizes.length; cell++) {
    places[cell] = (places[cell - 1] as number) + (sizes[cell - 1] as number);
  }
  const order = new Uint32Array(assigned.length);
  const cells = new Int32Array(assigned.length);
  for (const i of shuffled(assigned.length)) {
    const cell = assigned[i] as number;
    const place = places[cell] as number;
    order[place] = i;
    cells[place] = cell;
    places[cell] = place + 1;
  }
  return { order, cells, radii };
}

function shuffled(count: number): Uint32Array {
  const random = createRandom(2);
  const numbers = Uint32Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const other = Math.floor(random() * (i + 1));
    const number = numbers[i] as number;
    numbers[i] = numbers[other] as number;
    numbers[other] = number;
  }
  return numbers;
}

function decodeRows(bytes: Uint8Array, dimensions: number): Float32Array {
  const width = 4 + 2 * dimensions;
  const rows = new Float32Array((bytes.length / width) * dimensions);
  for (let from = 0, to = 0; from < bytes.length; from += width, to += dimensions) {
    rows.set(decodeHalfvec(bytes.subarray(from, from + width)), to);
  }
  return rows;
}
