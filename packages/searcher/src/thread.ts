import { parentPort, workerData } from 'node:worker_threads';
import type { AssignedCell } from './cells.ts';
import { SearchedCollection } from './collection.ts';
import type { ReplyMessage, Request, RequestMessage, ThreadConfig } from './messages.ts';
import { mirrored, readPoints } from './points/point-format.ts';
import { findPart, type PartMatch } from './points/verify.ts';
import type { PartQuery } from './query.ts';
import { threadOf } from './row-table.ts';
import { readCells, readDocs, readRows, readVector } from './wire.ts';

const port = parentPort;
if (port === null) throw new Error('this file runs as a worker thread');
const { index, count, exactRows } = workerData as ThreadConfig;
const collections = new Map<number, SearchedCollection>();

port.on('message', ({ number, key, request }: RequestMessage) => {
  let reply: ReplyMessage;
  try {
    const found = replyTo(key, request);
    reply = { number, bytes: collections.get(key)?.bytes ?? 0, ...found };
  } catch (error) {
    reply = { number, bytes: 0, failure: (error as Error).message };
  }
  port.postMessage(reply);
  if (request.kind === 'search') makeClusters();
});

/** Searches wait at most this long, and one step, for clusters that are made. */
const SLICE_MILLISECONDS = 3;

/** The work under way, and the collection that it is for. */
let clustering: { readonly of: SearchedCollection; readonly work: Generator<undefined, void> } | undefined;

/** Makes the clusters that collections need, a slice at a time: messages are answered in between. */
function makeClusters(): void {
  if (clustering !== undefined) return;
  clustering = nextClustering();
  if (clustering !== undefined) setImmediate(continueClustering);
}

function continueClustering(): void {
  const end = performance.now() + SLICE_MILLISECONDS;
  while (clustering !== undefined && performance.now() < end) {
    const { of, work } = clustering;
    const isHeld = [...collections.values()].includes(of);
    if (!isHeld || work.next().done) clustering = nextClustering();
  }
  if (clustering !== undefined) setImmediate(continueClustering);
}

function nextClustering(): typeof clustering {
  for (const collection of collections.values()) {
    const work = collection.clustering();
    if (work !== undefined) return { of: collection, work };
  }
  return undefined;
}

function replyTo(key: number, request: Request): Omit<ReplyMessage, 'number' | 'bytes'> {
  if (request.kind === 'drop') collections.delete(key);
  if (request.kind === 'begin') {
    collections.set(key, new SearchedCollection(Math.ceil(exactRows / count)));
  }
  const collection = collections.get(key);
  if (request.kind === 'drop' || request.kind === 'begin') return {};
  if (collection === undefined) throw new Error('the collection is not in memory any more');
  switch (request.kind) {
    case 'search':
      return { candidates: collection.search(request.query) };
    case 'heads':
      return { heads: collection.heads(request.query) };
    case 'count':
      return { counts: collection.count(request.query) };
    case 'points':
      return { points: collection.findParts(request.query) };
    case 'parts':
      return { parts: checkParts(request.query) };
    case 'pairs':
      return { pairs: collection.pairs(request.query) };
    case 'rows':
      applyRows(collection, request);
      break;
    case 'filter':
      collection.extendFilter(request.filter, request.docs);
      break;
    case 'values':
      for (const { ordinal, ...list } of request.lists) {
        readDocs(request.bytes, list, (doc) => collection.setValue(request.column, doc, ordinal));
      }
      break;
    case 'drop-values':
      collection.dropValues(request.column);
      break;
    case 'filter-by-values':
      collection.extendByValues(request.filter, request.column, request.wanted);
      break;
    case 'drop-filter':
      collection.dropFilter(request.filter);
      break;
    case 'cells': {
      if (request.isFirst) collection.beginCells();
      const missing: AssignedCell[] = [];
      readCells(request.bytes, (doc, cell) => {
        if (isOwn(doc) && !collection.assignCell(request.module, doc, cell)) missing.push([doc, cell]);
      });
      return { missing };
    }
    case 'advance':
      collection.advance(request.commit);
      break;
  }
  return {};
}

let vector: Float32Array = new Float32Array();

function applyRows(
  collection: SearchedCollection,
  { bytes, modules, withPoints = [] }: Extract<Request, { kind: 'rows' }>,
): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  readRows(bytes, ({ doc, from, to, vectors }) => {
    if (doc === undefined || !isOwn(doc)) return;
    if (to !== undefined) return collection.expireRow(doc, to);
    if (from !== undefined) collection.addRow(doc, from);
    for (const [i, module] of modules.entries()) {
      const at = vectors[i] as number;
      if (at < 0) continue;
      if (withPoints.includes(module)) {
        collection.setPoints(module, doc, bytes.subarray(at, at + view.getInt32(at - 4)));
        continue;
      }
      vector = readVector(bytes, at, vector);
      collection.setVector(module, doc, vector);
    }
  });
}

function checkParts({ points, candidates }: PartQuery): (readonly [number, PartMatch])[] {
  const query = readPoints(points);
  if (query === undefined) return [];
  const sets = [query, mirrored(query)] as const;
  return candidates.flatMap((candidate, i) => {
    const picture = i % count === index ? readPoints(candidate.points) : undefined;
    const match = picture && findPart(sets[candidate.isMirrored ? 1 : 0], picture);
    return match === undefined ? [] : [[i, match] as const];
  });
}

function isOwn(doc: number): boolean {
  return threadOf(doc, count) === index;
}
