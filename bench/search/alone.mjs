// Measures how time and memory of the codes alone grow, without a database:
// `npm run codes-alone -- --documents 1000000,4000000,10000000`.
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { halfTable, toHalf } from '@akin/domain';
import { Searcher } from '@akin/searcher';
import { clusteredVectors } from '../lib/clustered.mjs';
import { recordCosts, short } from '../lib/costs.mjs';
import { median, quantile, tableText } from '../lib/figures.mjs';
import { describeMachine } from '../lib/machine.mjs';
import { listOf, readOptions } from '../lib/options.mjs';

const options = readOptions({
  /** The collection is measured at these sizes. Each larger one includes the rows of the smaller one. */
  documents: '1000000',
  dimensions: '256',
  /** Number of points around which vectors lie. */
  centers: '4000',
  queries: '30',
  /** Number of queries whose results are compared with an exhaustive search. */
  compared: '10',
  /** `yes` replaces the figures that planning computes from. */
  record: '',
});
const [dimensions, centerCount] = [options.dimensions, options.centers].map(Number);
const MODULE = 'view';
const KEY = 1;
const COMMIT = 1;
const ROWS = 10;
const PART = 5_000;
const EXACT_ROWS = 20_000;
/** The minimum of a search with `rank.smartfilter=low`, the default. */
const MIN_COMPARED = 2_500;

const { dice, around } = clusteredVectors({ dimensions, centers: centerCount, seed: 7 });
const floats = halfTable();

console.log(describeMachine());
const threads = Math.min(4, availableParallelism());
const searcher = new Searcher({ threads, exactRows: EXACT_ROWS });
await searcher.change(KEY, { kind: 'begin' });
/** The queries that are compared. Their nearest documents are found while documents are made. */
const compared = Array.from({ length: Number(options.compared) }, () => ({
  vector: around(dice.whole(centerCount)),
  nearest: [],
}));

const table = [
  [
    'documents',
    'read',
    'CPU s of clusters',
    'bytes a document',
    'p50 / p95 ms',
    'CPU ms',
    'documents compared',
    'recall@10 among 50',
  ],
];
const costs = [];
let held = 0;
let reading = 0;
for (const documents of listOf(options.documents).map(Number)) {
  for (; held < documents; held += PART) {
    const bytes = makeRows(held, Math.min(PART, documents - held));
    const from = performance.now();
    await searcher.change(KEY, { kind: 'rows', modules: [MODULE], bytes });
    reading += performance.now() - from;
  }
  held = documents;
  await searcher.change(KEY, { kind: 'advance', commit: COMMIT });
  const times = [];
  const numbers = [];
  // The first searches after reading are not measured: they also compile code, grow memory and trigger the clustering.
  const warm = async () => {
    for (let i = 0; i < 30; i++) await ask(around(dice.whole(centerCount)));
  };
  await warm();
  const clustering = await untilIdle();
  await warm();
  const cpuFrom = process.cpuUsage();
  for (let i = 0; i < Number(options.queries); i++) {
    const vector = around(dice.whole(centerCount));
    const from = performance.now();
    const { compared } = await ask(vector);
    times.push(performance.now() - from);
    numbers.push(compared);
  }
  const cpu = process.cpuUsage(cpuFrom);
  const cpuMs = (cpu.user + cpu.system) / 1_000 / times.length;
  const bytes = searcher.bytes / documents;
  costs.push({ documents, bytes: short(bytes), ms: short(median(times)), cpuMs: short(cpuMs) });
  const recalls = [];
  for (const { vector, nearest } of compared) {
    const { docs } = await ask(vector);
    const found = new Set(docs);
    recalls.push(nearest.filter(({ doc }) => found.has(doc)).length / nearest.length);
  }
  table.push([
    documents.toLocaleString('en'),
    `${(reading / 1000).toFixed(1)} s`,
    clustering.toFixed(1),
    bytes.toFixed(0),
    `${median(times).toFixed(1)} / ${quantile(times, 0.95).toFixed(1)}`,
    cpuMs.toFixed(1),
    median(numbers).toLocaleString('en'),
    (recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length).toFixed(3),
  ]);
  console.error(table.at(-1).join(' | '));
}
await searcher[Symbol.asyncDispose]();
if (options.record) {
  const command = `npm run codes-alone -- --documents ${options.documents} --queries ${options.queries} --compared ${options.compared} --record yes`;
  await recordCosts('codes', command, { threads, dimensions, sizes: costs });
}
console.log(`\n${threads} thread(s) of the searcher\n\n${tableText(table)}\n\n${describeMachine()}`);

/** Waits until the threads are idle. @returns the CPU seconds that they used until then */
async function untilIdle() {
  const from = process.cpuUsage();
  for (let quiet = 0; quiet < 4; ) {
    const before = process.cpuUsage();
    await setTimeout(1_000);
    const { user, system } = process.cpuUsage(before);
    quiet = user + system < 30_000 ? quiet + 1 : 0;
  }
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1e6;
}

function ask(vector) {
  return searcher.search(KEY, {
    commit: COMMIT,
    module: MODULE,
    filters: [],
    vector,
    k: ROWS,
    exactRows: EXACT_ROWS,
    minCompared: MIN_COMPARED,
    maxCandidates: EXACT_ROWS,
  });
}

/**
 * Makes rows in the binary format of COPY, from a document number on. The columns are the document, the first commit
 * that shows it, the first commit that does not (null), and the vector.
 */
function makeRows(first, count) {
  const rowBytes = 2 + 12 + 12 + 4 + 4 + 4 + 2 * dimensions;
  const bytes = new Uint8Array(new SharedArrayBuffer(19 + count * rowBytes + 2));
  const view = new DataView(bytes.buffer);
  let at = 19;
  for (let doc = first; doc < first + count; doc++) {
    view.setInt16(at, 4);
    view.setInt32(at + 2, 8);
    view.setBigInt64(at + 6, BigInt(doc));
    view.setInt32(at + 14, 8);
    view.setBigInt64(at + 18, BigInt(COMMIT));
    view.setInt32(at + 26, -1);
    view.setInt32(at + 30, 4 + 2 * dimensions);
    view.setInt16(at + 34, dimensions);
    const vector = around(dice.whole(centerCount));
    for (let i = 0; i < dimensions; i++) {
      const half = toHalf(vector[i]);
      view.setUint16(at + 38 + 2 * i, half);
      vector[i] = floats[half];
    }
    for (const query of compared) remember(query, doc, vector);
    at += rowBytes;
  }
  view.setInt16(at, -1);
  return bytes;
}

function remember({ vector, nearest }, doc, other) {
  const worst = nearest.length < ROWS ? Number.POSITIVE_INFINITY : nearest[ROWS - 1].distance;
  let distance = 0;
  for (let i = 0; i < dimensions && distance < worst; i++) distance += (vector[i] - other[i]) ** 2;
  if (distance >= worst) return;
  nearest.push({ doc, distance });
  nearest.sort((a, b) => a.distance - b.distance);
  nearest.length = Math.min(nearest.length, ROWS);
}
