import { AkinError, withErrorContext } from '@akin/domain';
import { descriptorTable } from '../database/collections/collection-tables.ts';
import { encodeHalfvec } from '../database/engine/binary.ts';
import { needsScores, onlyHeads } from './collapse-by-field.ts';
import { compileQuery, conditionOf } from './compile.ts';
import type { MatchedDocuments } from './facet-plan.ts';
import type { CompileContext } from './field-clauses.ts';
import type { MatchSource } from './match-source.ts';
import { Params } from './params.ts';
import type { KnownDistances, Rank, SearchRequest } from './request.ts';
import type { NearDocuments, Snapshot } from './snapshot.ts';
import { visible } from './visible.ts';

/**
 * The documents that a search shows: its matches, or those that represent their groups.
 *
 * @param valued whether the statement needs the score or distance
 */
export function matchSource(
  request: SearchRequest,
  snapshot: Snapshot,
  valued: boolean,
  params = new Params(),
): MatchSource {
  const { collapseBy } = request;
  if (collapseBy === undefined) return allMatches(request, snapshot, valued, params);
  const all = allMatches(request, snapshot, valued || needsScores(collapseBy, request), params);
  const heads = onlyHeads(all, collapseBy, request, snapshot);
  return valued ? heads : { ...heads, value: 0 };
}

function allMatches(request: SearchRequest, snapshot: Snapshot, valued: boolean, params: Params): MatchSource {
  const { rank } = request;
  const { where, score } = conditionsOf(request, snapshot, params, valued && rank === undefined);
  const documents = `${snapshot.sqlSchema}.documents d`;
  if (rank === undefined) return { params, from: `${documents} where ${where}`, value: score, inRange: 'true' };
  if (rank.vector === undefined) {
    const from = `${knownRows(rank, snapshot, params)} where ${where} offset 0`;
    return { params, from, value: 'v.value', inRange: 'true' };
  }
  const table = rankedTable(rank, snapshot);
  if (rank.maxDistance !== undefined) {
    const greatest = params.add(rank.maxDistance, 'float8');
    if (snapshot.near !== undefined) {
      const from = `${nearRows(rank, snapshot.near, greatest, snapshot, params)} where ${where} offset 0`;
      return { params, from, value: 'v.value', inRange: 'true' };
    }
    const value = distanceTo(rank, params);
    return { params, from: joined(documents, table, where), value, inRange: `m.value <= ${greatest}` };
  }
  const value = valued ? distanceTo(rank, params) : 0;
  return { params, from: joined(documents, table, where), value, inRange: 'true' };
}

/**
 * The fence prevents an index on vectors, if somebody created one, from answering before the filters: pages would be
 * short.
 */
function joined(documents: string, table: string, where: string): string {
  return `${documents} join ${table} v on v.doc = d.doc where ${where} offset 0`;
}

/** For compiling the queries of a request. */
export function contextOf(snapshot: Snapshot, params: Params): CompileContext {
  return { tables: snapshot, params, ...snapshot.clock };
}

/** The condition on a row `d` of documents, and its score. */
export function conditionsOf(
  { query, filters = [] }: SearchRequest,
  snapshot: Snapshot,
  params: Params,
  scored = false,
): { readonly where: string; readonly score: string | number; readonly matchesAll: boolean } {
  const context = contextOf(snapshot, params);
  const compiled = withErrorContext('q', () =>
    scored ? compileQuery(query, context) : { where: conditionOf(query, context), score: 0 },
  );
  const conditions = [
    compiled.where,
    ...filters.map((filter) => withErrorContext('fq', () => conditionOf(filter, context))),
  ].filter((where) => where !== 'true');
  const { collapsed = [], shown, key } = snapshot;
  if (collapsed.length > 0) conditions.push(`d.doc <> all(${params.add(collapsed, 'int8[]')})`);
  if (shown !== undefined) conditions.push(shown(params));
  return {
    where: [visible(snapshot, params), ...conditions].join(' and '),
    score: compiled.score,
    matchesAll: conditions.length === 0 && key === undefined,
  };
}

/** Whether every document has the descriptor, so that no check is needed. */
export function isAllDescribed({ module }: Rank, { descriptorCounts, documents }: Snapshot): boolean {
  return descriptorCounts.get(module) === Number(documents);
}

/**
 * The rows within a distance, with their documents `d`. The distances of the candidates come first; then the documents
 * of the few remaining rows are read by their keys. Without this order, the planner expects a third of all rows to be
 * near enough, and reads every document for them.
 */
function nearRows(rank: Rank, near: NearDocuments, greatest: string, snapshot: Snapshot, params: Params): string {
  const { sqlSchema } = snapshot;
  const docs = params.add(near.docs, 'int8[]');
  return (
    `(select * from (select v.doc, ${distanceTo(rank, params)} as value from ${rankedTable(rank, snapshot)} v ` +
    `where v.doc = any(${docs}) offset 0) v where v.value <= ${greatest} offset 0) v ` +
    `cross join lateral (select * from ${sqlSchema}.documents d where d.doc = v.doc offset 0) d`
  );
}

/** The rows with known distances, with their documents `d`. */
function knownRows({ known = NOTHING_KNOWN }: Rank, { sqlSchema }: Snapshot, params: Params): string {
  const [docs, distances] = [params.add(known.docs, 'int8[]'), params.add(known.distances, 'float8[]')];
  return (
    `unnest(${docs}, ${distances}) v (doc, value) ` +
    `cross join lateral (select * from ${sqlSchema}.documents d where d.doc = v.doc offset 0) d`
  );
}

const NOTHING_KNOWN: KnownDistances = { docs: [], distances: [] };

/** The documents that a search shows, for counting: heads, and those within a distance, are found once per statement. */
export function matchedBy(request: SearchRequest, snapshot: Snapshot): (params: Params) => MatchedDocuments {
  const { rank, collapseBy } = request;
  return (params) => {
    if (collapseBy !== undefined) {
      const { from } = matchSource(request, snapshot, false, params);
      return {
        with: `with heads as materialized (select d.doc from ${from})`,
        from: `${snapshot.sqlSchema}.documents d`,
        where: 'd.doc in (select h.doc from heads h)',
        matchesAll: false,
      };
    }
    if (rank !== undefined && !isUnlimited(rank)) {
      const { from, value, inRange } = allMatches(request, snapshot, true, params);
      // Whole rows, because few are near, and the planner cannot know how few a second lookup would find.
      const matched = `select m.* from (select d.*, ${value} as value from ${from}) m where ${inRange}`;
      return { with: `with near as materialized (${matched})`, from: 'near d', where: 'true', matchesAll: false };
    }
    const { where, matchesAll } = conditionsOf(request, snapshot, params);
    const from = `${snapshot.sqlSchema}.documents d`;
    if (rank === undefined || isAllDescribed(rank, snapshot)) return { with: '', from, where, matchesAll };
    const described = `exists (select from ${rankedTable(rank, snapshot)} v where v.doc = d.doc)`;
    return { with: '', from, where: `${where} and ${described}`, matchesAll: false };
  };
}

/** Whether a ranking matches every document with the descriptor, however far. */
export function isUnlimited({ vector, maxDistance }: Rank): boolean {
  return vector !== undefined && maxDistance === undefined;
}

/** SQL of the distance of a descriptor `v`. */
export function distanceTo({ vector = new Float32Array(), known }: Rank, params: Params): string {
  const own = `v.vector <-> ${params.add(encodeHalfvec(vector), `halfvec(${vector.length})`)}`;
  if (known === undefined || known.docs.length === 0) return own;
  const [docs, distances] = [params.add(known.docs, 'int8[]'), params.add(known.distances, 'float8[]')];
  // Null for other documents, which "least" ignores.
  return `least(${own}, (${distances})[array_position(${docs}, v.doc)])`;
}

export function rankedTable({ module }: Pick<Rank, 'module'>, { sqlSchema, modules }: Snapshot): string {
  const descriptor = modules.find(({ name }) => name === module)?.descriptor;
  // The number of dimensions is not checked: a collection of another model may have more or fewer.
  if (descriptor === undefined)
    throw new AkinError('bad-request', `The module ${JSON.stringify(module)} has no descriptor to rank by.`);
  return descriptorTable(sqlSchema, module);
}
