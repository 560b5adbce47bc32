import { type Endpoints, MAX_DEPTH, type ParametersOf } from '@akin/contract';
import { badRequest, type Calibration, Double } from '@akin/domain';
import { scoreOf } from '@akin/modules/vectors';
import { inSpan } from '@akin/runtime';
import { type Collection, type CollectionSchema, calibrationOf, modelSetOf } from '@akin/store/database';
import { type SearchInput, type SearchResult, search } from '@akin/store/search';
import type { Context } from '../context.ts';
import type { JsonResult } from '../http/handler-result.ts';
import type { Call } from '../http/serve.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitTokenOrStandby } from '../update/await-token.ts';
import { computeFromCache } from './compute-from-cache.ts';
import { rankingModule, rankOfInputs } from './describe-query.ts';
import type { NamedFacet } from './facets/facet-kind.ts';
import { facetWarnings, presentFacets, readFacets } from './facets/facets.ts';
import { type NamedStats, presentStats, readStats } from './facets/stats.ts';
import { type FieldList, fieldNames, needsScores, readFieldList, requestedDistances } from './field-list.ts';
import { type Grouping, pageOf, readGrouping, splitFilters } from './grouping.ts';
import { PARTS, PARTS_BOX, partScoreOf, searchWithParts, soughtParts } from './parts.ts';
import { type PresentedHit, presentDocument } from './present.ts';
import { presentGroups } from './present-groups.ts';
import { clockOf, parameterLookup, readFilters, readLocalQuery, readSort } from './query-parameters.ts';
import { type RankInput, readRankInputs } from './rank-inputs.ts';
import { requireModelForInputs } from './require-model-for-inputs.ts';
import { warnAboutDates } from './warn-about-dates.ts';
import { warnAboutSwitches } from './warn-about-switches.ts';

type Parameters = ParametersOf<Endpoints['select']>;

export interface SearchPreset {
  readonly mode?: string;
  readonly threshold?: number;
  /** Whether the endpoint requires a ranking. */
  readonly ranked: boolean;
}

/** The steps of every search: parse, describe, rank, present. */
export async function handleSearch(
  call: Call<Parameters>,
  preset: SearchPreset,
  context: Context,
): Promise<JsonResult> {
  const { parameters, signal } = call;
  refuseUnsupported(call.list, { allowed: ['group', 'expand'] });
  checkDepth(parameters);
  const inputs = readRankInputs(call.list, parameters['rank.weights']);
  if (preset.ranked && inputs.length === 0) {
    throw badRequest(
      'Nothing to rank by: give rank.by.id, rank.by.url, rank.by.data, rank.by.hex, rank.by.text, rank.by.outputs or a file, or use /select.',
    );
  }
  const mode = parameters['rank.mode'] ?? preset.mode;
  const isOfParts = mode === PARTS;
  const module = isOfParts ? PARTS : rankingModule(mode, inputs);
  const parameter = parameterLookup(call.list);
  const fields = readFieldList(parameters.fl, inputs.length > 0, parameter);
  const main = readLocalQuery('q', parameters.q, parameters, parameter);
  const split = splitFilters(parameters.fq, parameter);
  const filters = readFilters(split.filters, parameters, parameter);
  const tagged = [main, ...filters, ...split.collapses];
  const facets = parameters.facet ? readFacets(call.list, tagged, parameters) : [];
  const stats = parameters.stats ? readStats(call.list, tagged, parameter) : [];
  const sort = readSort(parameters.sort, parameter);
  const grouping = readGrouping(call.list, split.collapses, parameters, sort, parameter);
  const page = pageOf(grouping, parameters);

  const { after, afterTimeout } = parameters;
  const isAnalyzed =
    isOfParts ||
    inputs.some(({ kind, region }) => kind === 'url' || kind === 'data' || kind === 'text' || region !== undefined);
  return computeFromCache(parameters.collection, context, isAnalyzed, async (collection, schema) => {
    const atLeast = await awaitTokenOrStandby(after, afterTimeout, collection, signal, context);
    const sought = await soughtParts(inputs, module, collection, signal, context);
    if (!isOfParts) await requireModelForInputs(inputs, module, collection, schema, context);
    const calibration = isOfParts ? undefined : calibrationFor(inputs, module, schema, collection, context);
    const rankOptions = {
      module,
      collection,
      calibration,
      models: modelSetOf(context.store, schema),
      threshold: parameters['rank.threshold'] ?? preset.threshold,
      // If the client wants an exact result, this overrides everything else.
      smartfilter: parameters['rank.approximate'] === false ? 'off' : parameters['rank.smartfilter'],
    } as const;
    const described =
      inputs.length > 0 && !isOfParts
        ? await rankOfInputs(sought?.inputs ?? inputs, rankOptions, signal, context)
        : undefined;
    const rank = described?.rank;

    const { names, hidden } = fieldNames(fields, schema.fields);
    const question = {
      query: main.query,
      filters: filters.map((filter) => filter.query),
      uncached: new Set([
        ...filters.flatMap(({ query, isUncached }) => (isUncached ? [query] : [])),
        ...facets.flatMap(({ request, isUncached }) => (isUncached && request.kind === 'query' ? [request.query] : [])),
      ]),
      rank,
      sort,
      ...page,
      cursorMark: parameters.cursorMark,
      fields: names,
      distances: requestedDistances(fields),
      scores: needsScores(fields),
      facets: [...facets, ...stats].map(({ request }) => request),
      minExactCount: parameters.minExactCount,
      collapse: parameters.collapse !== undefined,
      collapseBy: grouping?.collapseBy,
      members: grouping?.members,
      atLeast,
      ...((parameters.timeAllowed ?? 0) > 0 ? { timeAllowed: parameters.timeAllowed } : {}),
      ...clockOf(parameters),
    };
    const run = (asked: SearchInput) =>
      searchTraced(collection, asked, inputs.length === 0 ? undefined : module, signal, context);
    const { points, itself } = sought ?? {};
    const { threshold } = rankOptions;
    const parts = points
      ? await searchWithParts({ points, itself, threshold, calibration, question, collection, run }, signal, context)
      : undefined;
    const result = parts?.result ?? (await run(question));

    const score = ({ distance, score }: Scored) => {
      if (distance === undefined) return score;
      return isOfParts ? partScoreOf(distance) : scoreOf(module, distance, calibration);
    };
    const facetQueries = facets.flatMap(({ request }) => (request.kind === 'query' ? [request.query] : []));
    const warnings = [
      ...warnAboutSwitches(call.list, inputs.length > 0),
      ...[...(sought?.warnings ?? []), ...(described?.warnings ?? []), ...(parts?.warnings ?? [])],
      ...warnAboutDates([main.query, ...filters.map((filter) => filter.query), ...facetQueries], schema.fields),
    ];
    const shown = {
      parameters,
      fields,
      hidden,
      facets,
      stats,
      score,
      grouping,
      boxes: fields.includes(PARTS_BOX) ? parts?.boxes : undefined,
      isLimited: context.store.keyFilter !== undefined,
    };
    const value = presentResult(result, warnings, shown);
    return { value, collection: result.collection };
  });
}

/** A match: with a distance if the search ranks, otherwise with a score if one is wanted. */
interface Scored {
  readonly distance?: number | undefined;
  readonly score?: number | undefined;
}

interface Presentation {
  readonly parameters: Parameters;
  readonly fields: FieldList;
  /** Fields that are read only to be shown under other names. */
  readonly hidden: ReadonlySet<string>;
  readonly facets: readonly NamedFacet[];
  readonly stats: readonly NamedStats[];
  readonly score: (match: Scored) => number | undefined;
  readonly grouping: Grouping | undefined;
  /** Whether the key has a filter: then nothing may tell how many documents there are in all. */
  readonly isLimited: boolean;
  /** Where the parts are that were found, by id. */
  readonly boxes: ReadonlyMap<string, unknown> | undefined;
}

function presentResult(
  result: SearchResult,
  queryWarnings: readonly string[],
  { parameters, fields, hidden, facets, stats, score, grouping, boxes, isLimited }: Presentation,
): JsonResult {
  const maxScore = (best: Scored) => {
    const value = needsScores(fields) ? score(best) : undefined;
    return value === undefined ? {} : { maxScore: new Double(value) };
  };
  const document = (match: Omit<PresentedHit, 'score'> & Scored & { readonly id?: string }) => {
    const members = presentDocument({ ...match, score: score(match) }, fields, hidden);
    const box = boxes?.get(match.id ?? '');
    return box === undefined ? members : members.set(PARTS_BOX.name, box);
  };
  const response = {
    numFound: result.numFound,
    start: parameters.start,
    ...maxScore({ distance: result.minDistance, score: result.maxScore }),
    numFoundExact: result.numFoundExact,
    docs: result.hits.map(document),
  };
  const { ranking } = result;
  return {
    header: {
      ...(ranking && {
        ranking: ranking.exact ? 'exact' : 'approximate',
        distances: isLimited ? undefined : ranking.distances,
        searcher: ranking.inMemory ? 'memory' : 'database',
      }),
      partialResults: result.partial || undefined,
    },
    warnings: [...queryWarnings, ...facetWarnings(facets, result.facets)],
    body: {
      ...(grouping ? presentGroups(grouping, result, response, parameters, { document, maxScore }) : { response }),
      facet_counts: parameters.facet ? presentFacets(facets, result.facets, parameters['json.nl']) : undefined,
      stats: parameters.stats ? presentStats(stats, result.facets.slice(facets.length)) : undefined,
      nextCursorMark: result.nextCursorMark,
    },
  };
}

/** The calibration of the scores. Words alone have another one: they are farther from pictures than pictures are. */
function calibrationFor(
  inputs: readonly RankInput[],
  module: string,
  schema: CollectionSchema,
  collection: Collection,
  { store }: Context,
): Calibration | undefined {
  if (inputs.length === 0) return undefined;
  if (inputs.every(({ kind }) => kind === 'text')) return modelSetOf(store, schema).textCalibration;
  return calibrationOf(store, collection, schema, module);
}

/** Searches when a slot is free, and records the outcome in metrics and a span, without anything of the query. */
function searchTraced(
  collection: Collection,
  question: SearchInput,
  module: string | undefined,
  signal: AbortSignal,
  context: Context,
): Promise<SearchResult> {
  const attributes = {
    'akin.collection': collection.name,
    'akin.search.module': module,
    'akin.search.rows': question.rows,
    'akin.search.filters': question.filters?.length,
    'akin.search.facets': question.facets?.length,
  };
  return inSpan('search', { attributes }, async (span) => {
    const began = performance.now();
    const result = await context.semaphores.searches.run(signal, context, () =>
      search(context.store, collection, { ...question, signal }),
    );
    const path = result.ranking === undefined ? 'unranked' : result.ranking.exact ? 'exact' : 'approximate';
    context.metrics.search(path, performance.now() - began);
    span.set({
      'akin.search.path': path,
      'akin.search.distances': result.ranking?.distances,
      'akin.search.found': result.numFound,
      'akin.search.partial': result.partial,
      'akin.commit.number': result.commit,
    });
    return result;
  });
}

function checkDepth({ start, rows, cursorMark }: Parameters): void {
  if (cursorMark !== undefined || start + rows <= MAX_DEPTH) return;
  throw badRequest(
    `Parameters start and rows reach to ${start + rows}, beyond ${MAX_DEPTH}. Page with cursorMark, starting with cursorMark=*.`,
  );
}
