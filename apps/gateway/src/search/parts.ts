import { AkinError, Double, type Field, type Query } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { type Collection, type FoundPart, findParts, type SearchInput, type SearchResult } from '@akin/store';
import type { Context } from '../context.ts';
import { analyzePicture } from './analyze-picture.ts';
import { analyzeStoredPicture } from './analyze-stored-picture.ts';
import type { RankInput } from './rank-inputs.ts';

/** The module whose points find parts, and its mode of searches. */
export const PARTS: string = MODULES.find(({ points }) => points)?.name ?? '';

/** The strength at which a pair of pictures without a common part is one in a million, and its score. */
const SURE = { strength: 8, score: 0.7 };

/** From 0 to 1. It only approaches 1: the same picture in another size has fewer points in common. */
function partScore(strength: number): number {
  return strength / (strength + (SURE.strength * (1 - SURE.score)) / SURE.score);
}

/** The member of a document that says where the common part is. */
export const PARTS_BOX: Field = { name: 'parts_box', type: 'string', origin: 'analysis', returnedByDefault: false };

/**
 * A search for the documents whose pictures have a part in common with the picture of a request. They are found first;
 * the search then shows and counts them as any other.
 *
 * @param threshold least score
 * @param run runs a search that does not rank
 * @throws AkinError bad-request for other inputs than one picture; errors of its analysis
 */
export async function searchParts(
  inputs: readonly RankInput[],
  threshold: number | undefined,
  question: SearchInput,
  collection: Collection,
  run: (question: SearchInput) => Promise<SearchResult>,
  signal: AbortSignal,
  context: Context,
): Promise<{
  readonly result: SearchResult;
  readonly boxes: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
}> {
  const [input] = inputs;
  if (input === undefined || inputs.length > 1 || !['id', 'url', 'data'].includes(input.kind)) {
    throw new AkinError(
      'bad-request',
      `rank.mode=${PARTS} takes one picture: rank.by.id, rank.by.url, rank.by.data or a file.`,
    );
  }
  if (question.cursorMark !== undefined) {
    throw new AkinError('bad-request', `cursorMark is not possible with rank.mode=${PARTS}: page with start.`);
  }
  if (question.collapseBy !== undefined) {
    throw new AkinError('bad-request', `Groups by a field are not possible with rank.mode=${PARTS}.`);
  }
  const { points, warnings } = await soughtPoints(input, collection, signal, context);
  const { query, filters = [], uncached, now, timeZone, atLeast, sort = [], start = 0, rows } = question;
  const parts = await context.semaphores.searches.run(signal, context, () =>
    findParts(context.store, collection, {
      ...{ module: PARTS, points, filters: [query, ...filters], atLeast },
      ...(uncached && { uncached }),
      ...(now && { now }),
      ...(timeZone && { timeZone }),
    }),
  );
  const scores = new Map(parts.map(({ id, strength }): [string, number] => [id, partScore(strength)]));
  const found = parts.filter(({ id }) => (scores.get(id) as number) >= (threshold ?? SURE.score));
  const [first] = sort;
  const result = await run({
    ...question,
    ...{
      filters: [...filters, anyOfIds(found.map(({ id }) => id))],
      sort: sort.filter(({ name }) => name !== 'score'),
    },
    ...{ start: 0, rows: found.length, scores: false },
  });
  const hits = result.hits.map((hit) => ({ ...hit, score: scores.get(hit.id) as number }));
  if (first === undefined || first.name === 'score') {
    const sign = first?.direction === 'asc' ? 1 : -1;
    hits.sort((a, b) => sign * (a.score - b.score));
  }
  const size = sizeOf(points);
  return {
    result: {
      ...result,
      ...(hits.length > 0 ? { maxScore: Math.max(...hits.map(({ score }) => score)) } : {}),
      hits: hits.slice(start, start + rows),
    },
    boxes: new Map(found.map((part) => [part.id, boxOf(part, size)])),
    warnings,
  };
}

async function soughtPoints(input: RankInput, collection: Collection, signal: AbortSignal, context: Context) {
  const { kind, value, parameter, region } = input;
  const options = { region, soughtPoints: true };
  const { outputs, warnings = [] } =
    kind === 'id'
      ? await analyzeStoredPicture(collection, value, parameter, [PARTS], signal, context, options)
      : await analyzePicture(
          kind === 'url' ? { url: value } : { data: value },
          parameter,
          [PARTS],
          signal,
          context,
          options,
        );
  const { parts_points: text } = JSON.parse(outputs) as { parts_points: string };
  return { points: Uint8Array.from(Buffer.from(text, 'base64')), warnings };
}

function anyOfIds(ids: Iterable<string>): Query {
  const should = Array.from(ids, (value): Query => ({ kind: 'term', field: 'id', value, operator: 'OR', position: 0 }));
  return should.length === 0 ? { kind: 'none' } : { kind: 'bool', must: [], should, mustNot: [] };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The size of the picture of points, in units of its long side. */
function sizeOf(points: Uint8Array): Size {
  const view = new DataView(points.buffer, points.byteOffset, points.byteLength);
  // Imported outputs may contain 0.
  const [width, height] = [Math.max(1, view.getUint16(2, true)), Math.max(1, view.getUint16(4, true))];
  const long = Math.max(width, height);
  return { width: width / long, height: height / long };
}

/**
 * Where the common part is in both pictures, as x, y, width and height in fractions of their sides; by how many degrees
 * the document is turned in the query, how large it is there (1: its long side is that of the query), and whether it is
 * mirrored.
 */
function boxOf(
  { transform, points, isMirrored }: Pick<FoundPart, 'transform' | 'points' | 'isMirrored'>,
  query: Size,
): Map<string, unknown> {
  const { a, b, x, y } = transform;
  const document = sizeOf(points);
  const square = a * a + b * b;
  const toQuery = (u: number, v: number): Place => [a * u - b * v + x, b * u + a * v + y];
  const toDocument = (u: number, v: number): Place => [
    (a * (u - x) + b * (v - y)) / square,
    (a * (v - y) - b * (u - x)) / square,
  ];
  const inQuery = bounds(document, toQuery, query);
  const [left = 0, top = 0, width = 0, height = 0] = inQuery;
  const turn = (Math.atan2(b, a) * 180) / Math.PI;
  const rounded = (value: number) => new Double(Math.round(value * 1e4) / 1e4);
  return new Map<string, unknown>([
    ['query', (isMirrored ? [1 - left - width, top, width, height] : inQuery).map(rounded)],
    ['document', bounds(query, toDocument, document).map(rounded)],
    ['turn', rounded(((isMirrored ? -turn : turn) + 360) % 360)],
    ['scale', rounded(Math.sqrt(square))],
    ['mirrored', isMirrored],
  ]);
}

type Place = readonly [x: number, y: number];

/** The part of a picture that another one covers, in fractions. */
function bounds({ width, height }: Size, map: (x: number, y: number) => Place, within: Size): number[] {
  const corners = [map(0, 0), map(width, 0), map(0, height), map(width, height)];
  const span = (axis: 0 | 1, size: number): Place => {
    const values = corners.map((corner) => Math.max(0, Math.min(1, corner[axis] / size)));
    return [Math.min(...values), Math.max(...values)];
  };
  const [left, right] = span(0, within.width);
  const [top, bottom] = span(1, within.height);
  return [left, top, right - left, bottom - top];
}
