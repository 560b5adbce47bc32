import { AkinError, badRequest, type Calibration, Double, type Field } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { distanceAt, NEAR_PART_SCORE, partScore, SURE_PART_SCORE } from '@akin/modules/vectors';
import { appliedModules, type Collection } from '@akin/store/database';
import {
  findParts,
  type KnownDistances,
  type PartBox,
  type RankByDocuments,
  type SearchInput,
  type SearchResult,
} from '@akin/store/search';
import type { Context } from '../context.ts';
import { analyzePicture } from './analyze-picture.ts';
import { analyzeStoredPicture } from './analyze-stored-picture.ts';
import type { RankInput } from './rank-inputs.ts';

/** The module whose points find parts, and its mode of searches. */
export const PARTS: string = MODULES.find(({ points }) => points)?.name ?? '';

/** The module that finds copies: where pictures have points, these find more of them. */
const COPIES = 'duplicate';

/** How long a search for copies, which finds most of them without, waits for points that are read into memory. */
const COPIES_WAIT_MILLISECONDS = 1_000;
/** Searches of two commits are repeated until they are of one. */
const MAX_TRIES = 3;

/** The score of a distance in a search for parts alone. */
export const partScoreOf = (distance: number) => 1 - distance;

/** The member of a document that says where the common part is. */
export const PARTS_BOX: Field = { name: 'parts_box', type: 'string', origin: 'analysis', returnedByDefault: false };

/** A picture whose parts are looked for. */
export interface Sought {
  /** As the module writes them. Undefined: only descriptors find something. */
  readonly points?: Uint8Array | undefined;
  /** The inputs of the ranking by descriptors. */
  readonly inputs: readonly RankInput[];
  /** The id of the document whose whole picture this is. */
  readonly itself?: string | undefined;
  readonly warnings: readonly string[];
}

/**
 * The points of the picture of a search for parts, or for copies in a collection with points.
 *
 * @param module by which the search ranks
 * @returns undefined if the search needs none
 * @throws AkinError bad-request if a search for parts has other inputs than one picture; errors of its analysis
 */
export async function soughtParts(
  inputs: readonly RankInput[],
  module: string,
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<Sought | undefined> {
  const [input] = inputs;
  const isPicture =
    input !== undefined && inputs.length === 1 && input.weight > 0 && ['id', 'url', 'data'].includes(input.kind);
  const modules = appliedModules(context.store, collection);
  if (module === PARTS) {
    if (isPicture) return analyzeSought(input, [PARTS], collection, signal, context);
    throw badRequest(
      `rank.mode=${PARTS} takes one picture, without a negative weight: rank.by.id, rank.by.url, rank.by.data or a file.`,
    );
  }
  if (module !== COPIES || !isPicture || !modules?.includes(PARTS)) return undefined;
  // The descriptor of a document is read with the result.
  if (input.kind !== 'id' || input.region) return analyzeSought(input, [COPIES, PARTS], collection, signal, context);
  const sought = await analyzeSought(input, [PARTS], collection, signal, context).catch((error: unknown) => {
    if (error instanceof AkinError && error.code !== 'not-found') return { warnings: [withoutParts(error)] };
    throw error;
  });
  return { ...sought, inputs };
}

/** The warning of an answer about the parts of pictures, if those of the collection get no points. */
export function warnWithoutParts(collection: Collection, { store }: Context): string[] {
  if (appliedModules(store, collection)?.includes(PARTS)) return [];
  return [
    `The modules of the collection lack ${PARTS}: its pictures get no points that could be found. Serve with --${PARTS} and reindex it, or create a collection that has ${PARTS} among its modules.`,
  ];
}

const withoutParts = ({ message }: AkinError) => `Copies were found without points of pictures. ${message}`;

async function analyzeSought(
  input: RankInput,
  modules: readonly string[],
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<Sought> {
  const { kind, value, parameter, region } = input;
  const options = { region, soughtPoints: true };
  const { outputs, warnings = [] } =
    kind === 'id'
      ? await analyzeStoredPicture(collection, value, parameter, modules, signal, context, options)
      : await analyzePicture(
          kind === 'url' ? { url: value } : { data: value },
          parameter,
          modules,
          signal,
          context,
          options,
        );
  // These are more points than outputs of a document may have.
  const { parts_points: text, ...others } = JSON.parse(outputs) as { parts_points: string };
  return {
    points: Uint8Array.from(Buffer.from(text, 'base64')),
    inputs: [{ ...input, kind: 'outputs', value: JSON.stringify(others) }],
    itself: kind === 'id' && region === undefined ? value : undefined,
    warnings,
  };
}

interface PartsSearch {
  /** As the module writes them. */
  readonly points: Uint8Array;
  readonly itself: Sought['itself'];
  /** Least score of a search for parts. */
  readonly threshold: number | undefined;
  /** Of the ranking by descriptors. */
  readonly calibration: Calibration | undefined;
  readonly question: SearchInput & { readonly rank?: RankByDocuments | undefined };
  readonly collection: Collection;
  /** Runs a search. */
  readonly run: (question: SearchInput) => Promise<SearchResult>;
}

/**
 * A search whose ranking knows which documents have a part in common with a picture: the ranking by descriptors, if
 * there is one, counts the better of two scores.
 */
export async function searchWithParts(
  { points, itself, threshold, calibration, question, collection, run }: PartsSearch,
  signal: AbortSignal,
  context: Context,
): Promise<{
  readonly result: SearchResult;
  readonly boxes: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
}> {
  const { query, filters = [], uncached, now, timeZone, atLeast, rank, facets = [] } = question;
  // What a facet counts without a filter must be found without it.
  const isExcluded = (filter: SearchInput['query']) => facets.some((facet) => facet.excludedQueries?.has(filter));
  const near: RankByDocuments | undefined =
    rank &&
    (async (stored) => ({ ...(await rank(stored)), maxDistance: distanceAt(COPIES, NEAR_PART_SCORE, calibration) }));
  const asked = {
    module: PARTS,
    points,
    near,
    filters: [query, ...filters].filter((one) => !isExcluded(one)),
    atLeast,
    signal,
    waitMilliseconds: rank && COPIES_WAIT_MILLISECONDS,
    ...(uncached && { uncached }),
    ...(now && { now }),
    ...(timeZone && { timeZone }),
  };
  const least = rank ? SURE_PART_SCORE : (threshold ?? SURE_PART_SCORE);
  const attempt = <T>(work: () => Promise<T>) => context.semaphores.searches.run(signal, context, work);
  for (let tries = 1; ; tries++) {
    const all = await findParts(context.store, collection, asked, attempt).catch((error: unknown) => {
      if (rank !== undefined && error instanceof AkinError && error.code === 'unavailable') return error;
      throw error;
    });
    if (all instanceof AkinError) {
      return { result: await run(question), boxes: new Map(), warnings: [withoutParts(all)] };
    }
    const { commit, parts } = all;
    const found = parts
      // More points are sought than stored, which alone would not make a document the one most like itself.
      .map((part) => ({ ...part, score: part.id === itself ? 1 : partScore(part.strength, part.isNear) }))
      .filter(({ score }) => score >= least);
    const distanceOf = (score: number) => (rank ? distanceAt(COPIES, score, calibration) : 1 - score);
    const known: KnownDistances = {
      docs: found.map(({ doc }) => doc),
      distances: found.map(({ score }) => distanceOf(score)),
    };
    const result = await run({ ...question, rank: withKnown(rank, known) });
    if (result.commit !== commit && tries < MAX_TRIES) continue;
    return {
      result,
      boxes: new Map(found.map(({ id, box }) => [id, presentBox(box, 'query', 'document')])),
      // Points also come by import.
      warnings: rank || found.length > 0 ? [] : warnWithoutParts(collection, context),
    };
  }
}

function withKnown(rank: RankByDocuments | undefined, known: KnownDistances): SearchInput['rank'] {
  if (rank === undefined) return { module: PARTS, known };
  return known.docs.length === 0 ? rank : async (stored) => ({ ...(await rank(stored)), known });
}

/**
 * A box as in a response.
 *
 * @param query the name of the picture that was searched for
 * @param document the name of the other one
 */
export function presentBox(box: PartBox, query: string, document: string): Map<string, unknown> {
  const rounded = (value: number) => new Double(Math.round(value * 1e4) / 1e4);
  return new Map<string, unknown>([
    [query, box.query.map(rounded)],
    [document, box.document.map(rounded)],
    ['turn', rounded(box.turn)],
    ['scale', rounded(box.scale)],
    ['mirrored', box.isMirrored],
  ]);
}
