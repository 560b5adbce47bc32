import type { Candidates } from '@akin/searcher';
import type { Row } from '../database/engine/engine.ts';
import { isNearestHead } from './collapse-by-field.ts';
import { documentColumns, selectFields } from './hydrate.ts';
import type { InMemoryCandidates, NearQuery } from './in-memory-candidates.ts';
import { conditionsOf, distanceTo, rankedTable } from './matching.ts';
import type { HeadOrder } from './ordered-heads.ts';
import type { Page } from './page.ts';
import { Params } from './params.ts';
import { type Rank, type Ranking, type SearchRequest, type Smartfilter, sortOf } from './request.ts';
import { rankKeys } from './score-keys.ts';
import type { NearDocuments, Snapshot } from './snapshot.ts';
import { keyColumns, orderBy, sortKeys } from './sort.ts';

/*
 * How the nearest documents are found. The searcher has the vectors in memory, and the matches of filters as bits. It
 * returns candidates that include the result. The database computes their exact distances and reads the page.
 *
 * With up to `exactDocuments` matches, the code of each gives bounds of its distance, and all that the bounds do not
 * exclude are candidates, unless these are too many. Otherwise the nearest by codes are candidates, so that one of the
 * nearest is sometimes missed.
 */

/** Deeper pages are exact, so that they follow on each other without gaps. */
const DEEPEST = 1_000;

/** With more candidates than these, the database compares every match as quickly as it looks candidates up. */
const MAX_CANDIDATES = 20_000;

/** Least number of compared codes, as a share of `exactDocuments`: 2,500, 1,000 and 500 of 20,000. */
const COMPARED: Readonly<Record<Smartfilter, number>> = { off: 1, low: 1 / 8, medium: 1 / 20, high: 1 / 40 };

/** Whether the nearest in memory can be the page. @param order that of heads, if columns determine it */
export function isByNearness(request: SearchRequest, order: HeadOrder | undefined): boolean {
  const { rank, rows, start = 0, cursorMark, collapseBy } = request;
  // The searcher does not know the groups of documents with known distances.
  if (collapseBy !== undefined && order === undefined && (rank?.known || !isNearestHead(collapseBy, request)))
    return false;
  if (rank?.vector === undefined || rank.maxDistance !== undefined || cursorMark !== undefined) return false;
  const [first, ...others] = sortOf(request);
  const byScore = first?.name === 'score' && first.direction === 'desc' && others.every(({ name }) => name !== 'score');
  return byScore && start + rows <= DEEPEST;
}

/** Finds the page of a search that {@link isByNearness}. @returns undefined if no candidates can be found */
export async function readNearest(
  finder: InMemoryCandidates,
  request: SearchRequest,
  snapshot: Snapshot,
  order: HeadOrder | undefined,
): Promise<Page | undefined> {
  const { rank } = request;
  if (rank?.vector === undefined) return undefined;
  const query = nearQuery(snapshot.store, request, { ...rank, vector: rank.vector });
  const { collapsed = [] } = snapshot;
  const candidates = order
    ? await finder.nearestHeads(request, query, collapsed, order.heads)
    : await finder.nearest(request, query, collapsed);
  if (candidates === undefined || candidates.isOverLimit) return undefined;
  return rankCandidates(request, rank, snapshot, candidates);
}

/**
 * Candidates that include all documents within a ranking's greatest distance. @returns undefined if that would save
 * nothing, or none can be found
 */
export async function findNear(
  finder: InMemoryCandidates,
  { rank }: SearchRequest,
  snapshot: Snapshot,
): Promise<NearDocuments | undefined> {
  if (rank?.vector === undefined || rank.maxDistance === undefined) return undefined;
  const found = await finder.within({
    module: rank.module,
    vector: rank.vector,
    k: 0,
    maxDistance: rank.maxDistance,
    exactRows: snapshot.store.exactDocuments,
    minCompared: 0,
    maxCandidates: MAX_CANDIDATES,
  });
  if (found === undefined || found.isOverLimit) return undefined;
  const docs = new Set([...Array.from(found.docs, BigInt), ...(rank.known?.docs ?? [])]);
  return { docs: [...docs], compared: found.compared };
}

function nearQuery(
  { exactDocuments }: Snapshot['store'],
  { start = 0, rows }: SearchRequest,
  { module, vector, smartfilter = 'low' }: Rank & { readonly vector: Float32Array },
): NearQuery {
  return {
    module,
    vector,
    // Without a page the best score is still needed.
    k: Math.max(1, start + rows),
    exactRows: smartfilter === 'off' ? Number.POSITIVE_INFINITY : exactDocuments,
    minCompared: Math.ceil(COMPARED[smartfilter] * exactDocuments),
    maxCandidates: MAX_CANDIDATES,
  };
}

type NearRow = Row & Page['rows'][number];

async function rankCandidates(
  request: SearchRequest,
  rank: Rank,
  snapshot: Snapshot,
  { docs, groups, groupCount, matches, isExact, compared }: Candidates,
): Promise<Page> {
  const ranking: Ranking = { exact: isExact, distances: compared, inMemory: true };
  const fields = selectFields(snapshot, request.fields ?? ['*']);
  const params = new Params();
  const { sqlSchema } = snapshot;
  const { start = 0, rows } = request;
  const keys = sortKeys(sortOf(request), () => rankKeys(rank, params), snapshot, params);
  const shown = documentColumns(snapshot.store, snapshot, fields, request.distances ?? [], params);
  const order = orderBy(keys);
  const candidates = Array.from(docs, BigInt);
  const known = rank.known?.docs ?? [];
  const few = params.add([...new Set([...candidates, ...known])], 'int8[]');
  const wanted = params.add(Math.max(1, start + rows), 'int8');
  const table = rankedTable(rank, snapshot);
  const distance = distanceTo(rank, params);
  // The searcher has compared the candidates with the filters, but not the others.
  const andMatches = () => {
    const { where } = conditionsOf(request, snapshot, params);
    const isMatch = `exists (select from ${sqlSchema}.documents d where d.doc = v.doc and ${where})`;
    return `and (v.doc = any(${params.add(candidates, 'int8[]')}) or ${isMatch})`;
  };
  const nearby = groups
    ? // Of each group only the nearest, so that few documents are looked up.
      `select t.doc, t.g, t.value from (
         select n.*, min(n.value) over (partition by n.g) as least from (
           select v.doc, c.g, ${distance} as value
             from unnest(${few}, ${params.add(Array.from(groups), 'float8[]')}) c (doc, g)
             join ${table} v on v.doc = c.doc offset 0) n) t
        where t.value = t.least offset 0`
    : `select v.doc, ${distance} as value from ${table} v where v.doc = any(${few})
        ${known.length > 0 ? andMatches() : ''}
        order by value fetch first (${wanted}) rows with ties`;
  const near = `(${nearby}) v cross join lateral (select * from ${sqlSchema}.documents d where d.doc = v.doc offset 0) d`;
  const columns = `d.doc, d.id, v.value${keyColumns(keys)}`;
  // Of each group, only the nearest document.
  const ordered = groups
    ? `select distinct on (m.g) m.* from (select ${columns}, v.g from ${near}) m order by m.g, ${order}`
    : `select ${columns} from ${near}`;
  const pageOf = (page: readonly NearRow[], best: number | null): Page => ({
    rows: page.map(({ doc, id, value }) => ({ doc, id, value })),
    documents: new Map(page.map((row) => [row.doc, shown.read(row)])),
    mark: undefined,
    constantScore: null,
    ranking,
    ...(groupCount === undefined ? { found: matches } : { found: groupCount, matches }),
    best,
  });
  if (start === 0 && rows > 0 && shown.joins === '' && !groups) {
    // The first page begins with the best, and its documents are looked up once.
    const contents = shown.columns.map((column) => `, ${column}`).join('');
    const found = await snapshot.lookUp<NearRow>(
      `select m.* from (select ${columns}${contents} from ${near}) m
        order by ${order} limit ${wanted}`,
      params.values,
    );
    return pageOf(found, found[0]?.value ?? null);
  }
  const shownRows = `select * from near m order by ${order} limit ${params.add(rows, 'int8')} offset ${params.add(start, 'int8')}`;
  const [first, ...others] = await snapshot.lookUp<NearRow & { readonly best: number | null }>(
    `with near as materialized (
       select * from (${ordered}) m order by ${order} limit ${wanted}
     )
     select ${['t.best, m.*', ...shown.columns].join(', ')}
       from (select min(value) as best from near) t
       left join lateral (${shownRows}) m on true
       left join ${sqlSchema}.documents d on d.doc = m.doc
       ${shown.joins}
      order by ${order}`,
    params.values,
  );
  return pageOf(first === undefined || first.doc === null ? [] : [first, ...others], first?.best ?? null);
}
