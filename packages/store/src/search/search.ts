import { AkinError, type Distance, naming, type Query, type StoredDocument } from '@akin/domain';
import { descriptorTable } from '../collection-tables.ts';
import type { Collection } from '../collections.ts';
import { encodeHalfvec } from '../engine/binary.ts';
import type { Row, SqlValue } from '../engine/engine.ts';
import type { Store } from '../store.ts';
import { compileQuery } from './compile.ts';
import type { Clock } from './date-math.ts';
import type { FacetRequest, FacetResult } from './facet-request.ts';
import { countFacets, type MatchedWithout } from './facets.ts';
import { type ReadDocument, readDocuments, selectFields } from './hydrate.ts';
import { Params } from './params.ts';
import { type Snapshot, visible, withSnapshot } from './snapshot.ts';
import {
  behind,
  decodeCursor,
  encodeCursor,
  keyColumn,
  orderBy,
  orderFingerprint,
  type SortClause,
  type SortKey,
  sortKeys,
} from './sort.ts';
import { TimeLimit } from './time-limit.ts';

export interface SearchRequest {
  readonly query: Query;
  /** All must match; they do not score. */
  readonly filters?: readonly Query[];
  readonly rank?: Rank | undefined;
  /** By falling score when empty; always ends in the id, rising. */
  readonly sort?: readonly SortClause[];
  /** Documents to pass over. */
  readonly start?: number;
  /** Documents of the page. */
  readonly rows: number;
  /** `*` begins, then the mark of the answer before; instead of `start`. */
  readonly cursorMark?: string | undefined;
  /** Names of fields to return, `*` for all that are returned by default; see `selectFields`. */
  readonly fields?: readonly string[];
  /** Distances to return with each hit. */
  readonly distances?: readonly Distance[];
  /** Whether an unranked search whose order does not need scores gives them all the same. */
  readonly scores?: boolean;
  /** What to count by, over all documents that match. */
  readonly facets?: readonly FacetRequest[];
  /** Milliseconds after which the answer is cut; never with a cursorMark. */
  readonly timeAllowed?: number | undefined;
  /** What NOW means in date math, and the IANA zone in which it rounds. */
  readonly now?: Date;
  readonly timeZone?: string;
}

/** Order by likeness. Only documents that have the module's descriptor match. */
export interface Rank {
  readonly module: string;
  /** Unit length, as many numbers as the module's descriptor has. */
  readonly vector: Float32Array;
  /** L2 distance above which a document does not match. */
  readonly maxDistance?: number | undefined;
  /** This document stands first among those at the same distance. */
  readonly firstId?: string | undefined;
}

export interface SearchResult {
  /** The number of the commit that answered. */
  readonly commit: number;
  /** Every document that matches query, filters and `maxDistance`. */
  readonly numFound: number;
  /** False: numFound is a lower bound. */
  readonly numFoundExact: boolean;
  /** Whether `timeAllowed` cut the answer: hits, counts or facets are missing. */
  readonly partial: boolean;
  /** Unranked, where scores are given: the highest of all matches. */
  readonly maxScore?: number;
  /** Ranked: the least of all matches. Missing when nothing matches. */
  readonly minDistance?: number;
  readonly hits: readonly SearchHit[];
  readonly nextCursorMark?: string;
  /** As many as were asked for, in their order; none when they were cut. */
  readonly facets: readonly FacetResult[];
}

export interface SearchHit {
  readonly id: string;
  /** Ranked searches. 0 to 2. */
  readonly distance?: number;
  /** Unranked searches that score. */
  readonly score?: number;
  readonly document: StoredDocument;
  /** Kilometers to each of the places that were asked for; null where the document has none. */
  readonly distances: readonly (number | null)[];
}

/**
 * Answers a search from one commit: which documents match, in what order, how many, and the fields of one page of them.
 *
 * @throws AkinError bad-request for unknown fields, values that do not fit, a foreign cursorMark
 */
export async function search(store: Store, collection: Collection, request: SearchRequest): Promise<SearchResult> {
  if (request.cursorMark !== undefined && (request.start ?? 0) > 0) {
    throw new AkinError('bad-request', 'start must be 0 with cursorMark: the mark says where to go on.');
  }
  // One moment for all statements, also when nobody says which.
  const { now = new Date(), timeZone = 'UTC' } = request;
  const clock = { now, timeZone };
  // A cursor mark must lead on, so that its page is never cut.
  const limited = request.timeAllowed !== undefined && request.cursorMark === undefined;
  const deadline = limited ? performance.now() + (request.timeAllowed as number) : undefined;
  return withSnapshot(store, collection, async (snapshot) => {
    const ranked = request.rank !== undefined;
    const limit = new TimeLimit(snapshot.tx, deadline);
    const read = await limit.within(() => readHits(store, request, snapshot, clock));
    const { page, documents } = read ?? NOTHING_READ;
    const totals = await limit.within(() => readTotals(request, snapshot, clock, page));
    const facets = await limit.within(() =>
      countFacets(request.facets ?? [], matchedBy(request, snapshot), snapshot, clock),
    );
    const best = totals?.best ?? null;
    return {
      commit: Number(snapshot.commit),
      numFound: totals?.found ?? (page.rows.length === 0 ? 0 : (request.start ?? 0) + page.rows.length),
      numFoundExact: totals !== undefined,
      partial: limit.over,
      ...(best === null ? {} : ranked ? { minDistance: best } : { maxScore: best }),
      hits: page.rows.map(({ doc, id, value }) => ({
        id,
        ...(value === null ? {} : ranked ? { distance: value } : { score: value }),
        ...(documents.get(doc) ?? { document: new Map(), distances: [] }),
      })),
      ...(request.cursorMark === undefined ? {} : { nextCursorMark: page.mark ?? request.cursorMark }),
      facets: facets ?? [],
    };
  });
}

async function readHits(store: Store, request: SearchRequest, snapshot: Snapshot, clock: Clock): Promise<ReadHits> {
  const page = await readPage(request, snapshot, clock);
  const documents = await readDocuments(
    store,
    snapshot,
    page.rows.map(({ doc }) => doc),
    selectFields(snapshot, request.fields ?? ['*']),
    request.distances ?? [],
  );
  return { page, documents };
}

interface ReadHits {
  readonly page: Page;
  readonly documents: ReadonlyMap<bigint, ReadDocument>;
}

const NOTHING_READ: ReadHits = {
  page: { rows: [], mark: undefined, constantScore: null },
  documents: new Map(),
};

interface PageRow {
  readonly doc: bigint;
  readonly id: string;
  /** Distance or score; null where none is asked for. */
  readonly value: number | null;
}

interface Page {
  readonly rows: readonly PageRow[];
  /** The cursor mark behind the last row. */
  readonly mark: string | undefined;
  /** What every match scores, where that is known without asking. */
  readonly constantScore: number | null;
}

const BY_SCORE: readonly SortClause[] = [{ name: 'score', direction: 'desc' }];

function sortOf({ sort }: SearchRequest): readonly SortClause[] {
  return sort === undefined || sort.length === 0 ? BY_SCORE : sort;
}

/** Whether the rows of a page carry scores or distances. */
function isValued(request: SearchRequest): boolean {
  return request.rank !== undefined || request.scores === true || sortOf(request).some(({ name }) => name === 'score');
}

/** What a statement selects from, and the value of a match. Each has parameters of its own: one unused has no type. */
interface Matches {
  readonly params: Params;
  readonly from: string;
  /** The score or distance: SQL, or one number for all. 0 where it is not asked for. */
  readonly value: string | number;
  /** True of the values that match. */
  readonly inRange: string;
}

function matching(request: SearchRequest, snapshot: Snapshot, clock: Clock, valued: boolean): Matches {
  const { rank, filters = [] } = request;
  const params = new Params();
  const context = { tables: snapshot, params, ...clock };
  const query = naming('q', () => compileQuery(request.query, context, valued && rank === undefined));
  const conditions = [query, ...filters.map((filter) => naming('fq', () => compileQuery(filter, context, false)))]
    .map(({ where }) => where)
    .filter((where) => where !== 'true');
  const where = [visible(params.add(snapshot.commit, 'int8')), ...conditions].join(' and ');
  const documents = `${snapshot.sqlSchema}.documents d`;
  if (rank === undefined) return { params, from: `${documents} where ${where}`, value: query.score, inRange: 'true' };
  return {
    params,
    // A condition on the cell of the descriptor belongs into this `where`. The fence keeps any index on vectors, if
    // someone made one, from answering before the filters: pages would be short.
    from: `${documents} join ${rankedTable(rank, snapshot)} v on v.doc = d.doc where ${where} offset 0`,
    value: valued ? distanceTo(rank, params) : 0,
    inRange: rank.maxDistance === undefined ? 'true' : `m.value <= ${params.add(rank.maxDistance, 'float8')}`,
  };
}

/** The documents that match, for counting: those within the greatest distance are found once a statement. */
function matchedBy({ query, filters = [], rank }: SearchRequest, snapshot: Snapshot): MatchedWithout {
  return (without, context) => {
    const { params } = context;
    const conditions = [query, ...filters]
      .filter((one) => !without.has(one))
      .map((one) => compileQuery(one, context, false).where)
      .filter((where) => where !== 'true');
    const documents = `${snapshot.sqlSchema}.documents d`;
    const where = [visible(params.add(snapshot.commit, 'int8')), ...conditions].join(' and ');
    if (rank === undefined) return { with: '', from: documents, where, everything: conditions.length === 0 };
    const descriptors = `${rankedTable(rank, snapshot)} v`;
    if (rank.maxDistance === undefined) {
      const described = `exists (select from ${descriptors} where v.doc = d.doc)`;
      return { with: '', from: documents, where: `${where} and ${described}`, everything: false };
    }
    const value = distanceTo(rank, params);
    const greatest = params.add(rank.maxDistance, 'float8');
    return {
      // Whole rows: few are near, and to look them up again takes a plan that knows how few.
      with:
        `with near as materialized (select m.* from (select d.*, ${value} as value from ${documents} ` +
        `join ${descriptors} on v.doc = d.doc where ${where} offset 0) m where m.value <= ${greatest})`,
      from: 'near d',
      where: 'true',
      everything: false,
    };
  };
}

/** SQL of the distance of a descriptor `v`. */
function distanceTo({ vector }: Rank, params: Params): string {
  return `v.vector <-> ${params.add(encodeHalfvec(vector), `halfvec(${vector.length})`)}`;
}

async function readPage(request: SearchRequest, snapshot: Snapshot, clock: Clock): Promise<Page> {
  const { rank, cursorMark } = request;
  const { params, from, value, inRange } = matching(request, snapshot, clock, isValued(request));
  const constantScore = typeof value === 'number' && isValued(request) ? value : null;
  if (request.rows === 0) return { rows: [], mark: undefined, constantScore };

  const keys = sortKeys(sortOf(request), () => scoreKeys(value, rank, params), snapshot, params);
  const order = orderFingerprint(sortOf(request), rank && [rank.module, ...rank.vector, rank.firstId]);
  const columns = [
    'd.doc, d.id',
    `${typeof value === 'string' ? value : 'null::float8'} as value`,
    ...keys.flatMap((key, i) => (key.sql === null ? [] : [`${key.sql} as ${keyColumn(key, i)}`])),
  ];
  const onward =
    cursorMark === undefined || cursorMark === '*'
      ? 'true'
      : behind(keys, decodeCursor(cursorMark, keys, order), params);
  const found = await snapshot.tx.query<PageRow & Row>(
    `select * from (select ${columns.join(', ')} from ${from}) m where ${inRange} and ${onward}
      order by ${orderBy(keys)} limit ${params.add(request.rows, 'int8')} offset ${params.add(request.start ?? 0, 'int8')}`,
    params.values,
  );
  const last = found.at(-1);
  const lastKeys = last && keys.map((key, i): SqlValue => last[keyColumn(key, i)]);
  return {
    rows: constantScore === null ? found : found.map((row) => ({ ...row, value: constantScore })),
    mark: lastKeys && encodeCursor(keys, lastKeys, order),
    constantScore,
  };
}

/** By falling score: by rising distance, where the document that asked stands before its equals. */
function scoreKeys(value: string | number, rank: Rank | undefined, params: Params): SortKey[] {
  if (typeof value === 'number') return [];
  if (rank === undefined) return [{ sql: null, type: 'float8', descending: true }];
  const distance: SortKey = { sql: null, type: 'float8', descending: false };
  if (rank.firstId === undefined) return [distance];
  return [distance, { sql: `d.id <> ${params.add(rank.firstId, 'text')}`, type: 'boolean', descending: false }];
}

function rankedTable({ module, vector }: Rank, { sqlSchema, modules }: Snapshot): string {
  const descriptor = modules.find(({ name }) => name === module)?.descriptor;
  if (descriptor?.dimensions !== vector.length) {
    throw new AkinError(
      'bad-request',
      `${JSON.stringify(module)} does not rank by vectors of ${vector.length} numbers.`,
    );
  }
  return descriptorTable(sqlSchema, module);
}

/** How many match and the best value of all: asks only for what the page and the commit do not tell already. */
async function readTotals(
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  { rows, constantScore }: Page,
): Promise<{ found: number; best: number | null }> {
  const { rank, filters = [], start = 0, cursorMark } = request;
  const fromTheStart = start === 0 && (cursorMark === undefined || cursorMark === '*');
  const isLastPage = rows.length < request.rows && (fromTheStart || (cursorMark === undefined && rows.length > 0));
  const everything = rank === undefined && filters.length === 0 && request.query.kind === 'all';
  const found = everything ? Number(snapshot.documents) : isLastPage ? start + rows.length : undefined;

  const [first] = sortOf(request);
  const bestFirst = fromTheStart && request.rows > 0 && first?.name === 'score' && first.direction === 'desc';
  const asksBest = isValued(request) && constantScore === null && !bestFirst;
  const known = constantScore ?? (bestFirst ? (rows[0]?.value ?? null) : null);
  if (found !== undefined && !asksBest) return { found, best: found > 0 ? known : null };

  const { params, from, value, inRange } = matching(
    request,
    snapshot,
    clock,
    asksBest || rank?.maxDistance !== undefined,
  );
  const best = asksBest ? `${rank === undefined ? 'max' : 'min'}(m.value)` : 'null::float8';
  const [row] = await snapshot.tx.query<{ found: bigint; best: number | null }>(
    `select count(*) as found, ${best} as best
       from (select ${typeof value === 'string' ? value : 'null::float8'} as value from ${from}) m where ${inRange}`,
    params.values,
  );
  const counted = Number(row?.found ?? 0);
  return { found: counted, best: asksBest ? (row?.best ?? null) : counted > 0 ? known : null };
}
