import type { Query } from '@akin/domain';
import type { Candidates } from '@akin/searcher';
import { shardRanges } from '../collections/shards.ts';
import type { Collection } from '../context.ts';
import { compileQuery } from '../search/compile.ts';
import type { Clock } from '../search/date-math.ts';
import { distanceTo, rankedTable } from '../search/matching.ts';
import { Params } from '../search/params.ts';
import { type Snapshot, visible } from '../search/snapshot.ts';
import type { NodeRequest, NodeResponse } from './protocol.ts';

/** The parts of a request that the database needs. */
type DatabaseRequest = Pick<NodeRequest, 'near' | 'queries' | 'matchIndexes' | 'countIndexes' | 'collapsed'>;

/** Rows that are read in addition to the wanted ones, because several documents may be equally near. */
const SPARE = 100;
/** Bounds of squared distances have single precision, distances of the database double. */
const ROUNDING = 1e-5;

/**
 * Searches some shards in the database, and returns what search nodes would. The database compares every match in these
 * shards and reads no other ones: one statement finds the nearest, one counts.
 *
 * @param shards at least one
 */
export async function searchShardsInDatabase(
  snapshot: Snapshot,
  collection: Collection,
  shards: readonly number[],
  asked: DatabaseRequest,
  clock: Clock,
): Promise<Pick<NodeResponse, 'candidates' | 'counts'>> {
  const begin = () => beginStatement(snapshot, collection, shards, asked, clock);
  const nearest = await findNearest(snapshot, asked, begin());
  const [matches = 0, ...counts] = await count(snapshot, asked, begin());
  return { candidates: { ...nearest, matches, compared: matches }, counts };
}

/** Parts of a statement on some shards. */
interface Statement {
  readonly params: Params;
  /** Visible documents `d` with their vectors `v`, up to and including a `where`. */
  readonly from: string;
  /** A condition: all of some queries match, given by their indexes. Each query is compiled once. */
  readonly matchAll: (indexes: readonly number[]) => string;
}

function beginStatement(
  snapshot: Snapshot,
  collection: Collection,
  shards: readonly number[],
  { near, queries, collapsed }: DatabaseRequest,
  clock: Clock,
): Statement {
  const params = new Params();
  const ranges = shardRanges(collection).filter((_, shard) => shards.includes(shard));
  // The condition is on both tables, so that the partitions of other shards are not read.
  const inShards = ['d', 'v'].map(
    (table) => `(${ranges.map(({ from, to }) => `${table}.doc >= ${from} and ${table}.doc < ${to}`).join(' or ')})`,
  );
  const conditions = [visible(params.add(snapshot.commit, 'int8')), ...inShards];
  if (collapsed.length > 0) conditions.push(`d.doc <> all(${params.add(collapsed, 'int8[]')})`);
  const context = { tables: snapshot, params, ...clock };
  const compiled = new Map<number, string>();
  const conditionOf = (index: number): string => {
    const where = compiled.get(index) ?? compileQuery(queries[index]?.query as Query, context, false).where;
    compiled.set(index, where);
    return `(${where})`;
  };
  return {
    params,
    from: `${snapshot.sqlSchema}.documents d join ${rankedTable(near, snapshot)} v on v.doc = d.doc
            where ${conditions.join(' and ')}`,
    matchAll: (indexes) => ['true', ...indexes.map(conditionOf)].join(' and '),
  };
}

/** Without `offset 0`, an index on vectors, if somebody created one, could answer before the filters. */
async function findNearest(
  { tx }: Snapshot,
  { near, matchIndexes }: DatabaseRequest,
  { params, from, matchAll }: Statement,
): Promise<Omit<Candidates, 'matches' | 'compared'>> {
  const { k, maxDistance, maxCandidates } = near;
  const max = maxDistance === undefined ? 2 * k + SPARE : maxCandidates + 1;
  const matches = `select v.doc, ${distanceTo(near, params)} as value from ${from} and ${matchAll(matchIndexes)} offset 0`;
  const within = maxDistance === undefined ? 'true' : `value <= ${params.add(maxDistance, 'float8')}`;
  const rows = await tx.query<{ doc: bigint; value: number }>(
    `select doc, value from (${matches}) m where ${within} order by value limit ${max}`,
    params.values,
  );
  // If documents as near as the last wanted one are left out, the database must search all shards.
  const isOverLimit = rows.length === max && (maxDistance !== undefined || rows.at(-1)?.value === rows[k - 1]?.value);
  const kept = isOverLimit ? [] : rows;
  const squares = kept.map(({ value }) => value * value);
  return {
    isExact: true,
    isOverLimit,
    docs: Float64Array.from(kept, ({ doc }) => Number(doc)),
    low: Float32Array.from(squares, (square) => square * (1 - ROUNDING) - ROUNDING),
    estimate: Float32Array.from(squares),
    high: Float32Array.from(squares, (square) => square * (1 + ROUNDING) + ROUNDING),
  };
}

/** @returns how many documents match, and then as many of them as each facet counts */
async function count(
  { tx }: Snapshot,
  { matchIndexes, countIndexes }: DatabaseRequest,
  { params, from, matchAll }: Statement,
): Promise<number[]> {
  // An index can find the rows that match the queries which all counts have in common.
  const common = matchIndexes.filter((index) => countIndexes.every((indexes) => indexes.includes(index)));
  const columns = [matchIndexes, ...countIndexes].map((indexes, i) => {
    const others = indexes.filter((index) => !common.includes(index));
    return `count(*) filter (where ${matchAll(others)}) as n${i}`;
  });
  const [row] = await tx.query<Record<string, bigint>>(
    `select ${columns.join(', ')} from ${from} and ${matchAll(common)}`,
    params.values,
  );
  return columns.map((_, i) => Number(row?.[`n${i}`] ?? 0));
}
