import { AkinError } from '@akin/domain';
import type { Collection } from '../database/context.ts';
import { statements } from '../database/statements.ts';
import { groupColumn } from './collapse-by-field.ts';
import { collapseDuplicates, withQueriesRemoved } from './collapse-duplicates.ts';
import type { SearchStore } from './context.ts';
import { expandWords } from './expand-words.ts';
import type { FacetResult } from './facet-request.ts';
import { countFacets, type MatchedWithoutQueries } from './facets.ts';
import { readMembers } from './group-members.ts';
import { InMemoryCandidates } from './in-memory-candidates.ts';
import { matchedBy } from './matching.ts';
import { findNear, isByNearness, readNearest } from './nearest.ts';
import { chooseHeads, type HeadOrder, headOrderOf } from './ordered-heads.ts';
import { NO_PAGE, type Page, readPage } from './page.ts';
import { readDescriptor } from './read.ts';
import type { Ranking, SearchInput, SearchRequest, SearchResult } from './request.ts';
import type { NeededInMemory } from './searcher/needed-in-memory.ts';
import { type Snapshot, withFewStatements, withSnapshot } from './snapshot.ts';
import { TimeLimit } from './time-limit.ts';
import { countMatches, readTotals } from './totals.ts';

/**
 * Answers a search from one commit: which documents match, in what order, how many, and the fields of one page of them.
 *
 * @throws AkinError bad-request for unknown fields, values that do not fit, a foreign cursorMark; the reason of the
 * signal
 */
export async function search(store: SearchStore, collection: Collection, question: SearchInput): Promise<SearchResult> {
  if (question.cursorMark !== undefined && (question.start ?? 0) > 0) {
    throw new AkinError('bad-request', 'start must be 0 with cursorMark: the mark says where to continue.');
  }
  if (question.cursorMark !== undefined && question.collapse) {
    throw new AkinError(
      'bad-request',
      'collapse is not possible with cursorMark: page with start, or remove collapse.',
    );
  }
  const { atLeast, signal, ...asked } = question;
  // One moment for all statements, even if the request does not give it.
  const clock = { now: question.now ?? new Date(), timeZone: question.timeZone ?? 'UTC' };
  // A cursor mark must make progress, so its page is never partial.
  const limit = question.cursorMark === undefined ? question.timeAllowed : undefined;
  const deadline = limit === undefined ? undefined : performance.now() + limit;
  const attempt = (isCurrent: boolean, isFirst: boolean) => {
    signal?.throwIfAborted();
    const work = (snapshot: Snapshot) => find(collection, asked, { ...snapshot, clock }, deadline, isFirst);
    // Groups change between commits: a standby with the same commit may still have older ones.
    const freshness = question.collapse ? undefined : { atLeast, isCurrent };
    return isQuick(question)
      ? withFewStatements(store, collection, work, freshness)
      : withSnapshot(store, collection, work, freshness);
  };
  const result = await attempt(atLeast === undefined, true);
  if (!('missing' in result)) return result;
  // Half of the time is reserved for the database.
  const readMilliseconds = deadline === undefined ? undefined : (deadline - performance.now()) / 2;
  await store.inMemory.read(store, collection, result.missing, readMilliseconds);
  // The data in memory is of the last commit.
  return (await attempt(true, false)) as SearchResult;
}

/**
 * A ranked search needs its collection in memory, which is read there before a second attempt. Then candidates come from
 * memory, or the database compares all.
 *
 * @param isFirst whether nothing is compared in the database before the collection was read into memory
 */
async function find(
  collection: Collection,
  question: SearchInput,
  base: Snapshot,
  deadline: number | undefined,
  isFirst: boolean,
): Promise<SearchResult | { readonly missing: NeededInMemory }> {
  const { store } = base;
  const request = await requestOf(question, base);
  const limit = new TimeLimit(base.tx, deadline);
  const order = headOrderOf(request, base);
  const needed = neededInMemory(request, base, order);
  const held =
    needed && (await limit.within(() => store.inMemory.find(collection, base.tx, base.commit, needed.module)));
  if (isFirst && needed && held === undefined && !limit.isOver) return { missing: needed };
  using finder = held && new InMemoryCandidates(held, base);
  const read = <T>(summary: string, run: () => Promise<T>) => limit.within(() => statements(summary, collection, run));
  using turn = store.inMemory.databaseTurn();
  const compareAll = () => {
    if (needed !== undefined && needed.documents > store.exactDocuments && !limit.isOver) turn.take();
  };
  const near = finder && (await findNear(finder, request, base));
  if (request.rank?.maxDistance !== undefined && near === undefined) compareAll();
  const collapse = () => collapseDuplicates(request, { ...base, near });
  const collapsed = request.collapse ? await read('SELECT duplicates', collapse) : undefined;
  const whole = { ...base, near, collapsed: collapsed?.docs };
  if (request.collapseBy) groupColumn(request.collapseBy, whole);
  const readHits = async (): Promise<Page> => {
    await expandWords(request, whole);
    if (isByNearness(request, order)) {
      const nearest = finder && (await readNearest(finder, request, whole, order));
      if (nearest !== undefined) return nearest;
      compareAll();
    }
    const chosen = finder && order?.page && (await chooseHeads(finder, order, request, whole));
    return readPage(request, whole, chosen);
  };
  const found = await read('SELECT page', readHits);
  const page = found ?? NO_PAGE;
  const totals = await read('SELECT totals', () => readTotals(request, whole, page));
  const count = () => readFacets(request, whole, page.ranking?.inMemory ? finder : undefined);
  const facets = request.facets?.length ? await read('SELECT facets', count) : [];
  const groups = request.members && (await read('SELECT groups', () => readGroups(request, whole, page)));
  const ranked = request.rank !== undefined;
  const best = totals?.best ?? null;
  const ranking = rankingOf(request, whole, page, totals?.found);
  return {
    commit: Number(base.commit),
    collection: { name: base.name, schemaVersion: base.schema.version },
    numFound: totals?.found ?? (page.rows.length === 0 ? 0 : (request.start ?? 0) + page.rows.length),
    numFoundExact: totals?.exact ?? false,
    partial: limit.isOver,
    ...(best === null ? {} : ranked ? { minDistance: best } : { maxScore: best }),
    hits: page.rows.map(({ doc, id, value }) => ({
      id,
      ...(collapsed && { collapsed: collapsed.counts.get(doc) ?? 0 }),
      ...(value === null ? {} : ranked ? { distance: value } : { score: value }),
      document: page.documents.get(doc)?.document ?? new Map(),
      distances: page.documents.get(doc)?.distances ?? [],
    })),
    ...(ranking === undefined || found === undefined ? {} : { ranking }),
    ...(request.cursorMark === undefined ? {} : { nextCursorMark: page.mark ?? request.cursorMark }),
    facets: facets ?? [],
    ...groups,
  };
}

/** @param finder counts some of the facets, if it found the page */
async function readFacets(
  request: SearchRequest,
  snapshot: Snapshot,
  finder: InMemoryCandidates | undefined,
): Promise<FacetResult[]> {
  const known = new Map<number, FacetResult>();
  for (const [index, count] of (await finder?.facetCounts(request)) ?? []) known.set(index, { kind: 'query', count });
  const matchedWithout: MatchedWithoutQueries = async (without) => {
    const remaining = await withQueriesRemoved(without, request, snapshot);
    return matchedBy(remaining.request, remaining.snapshot);
  };
  return countFacets(request.facets ?? [], matchedWithout, snapshot, known);
}

/** Whether a search has so few statements that a commit between them is unlikely. */
function isQuick({ facets = [], collapse, timeAllowed }: SearchInput): boolean {
  return facets.length === 0 && !collapse && timeAllowed === undefined;
}

/** What a search that finds candidates in memory needs there. */
function neededInMemory(
  request: SearchRequest,
  snapshot: Snapshot,
  order: HeadOrder | undefined,
): NeededInMemory | undefined {
  const { rank } = request;
  if (order?.page && snapshot.documents > 0n) {
    return { module: undefined, documents: Number(snapshot.documents), dimensions: undefined };
  }
  if (rank?.vector === undefined || (rank.maxDistance === undefined && !isByNearness(request, order))) return undefined;
  const documents = snapshot.descriptorCounts.get(rank.module) ?? 0;
  const descriptor = snapshot.modules.find(({ name }) => name === rank.module)?.descriptor;
  if (documents === 0 || descriptor === undefined) return undefined;
  return { module: rank.module, documents, dimensions: descriptor.dimensions };
}

async function requestOf({ rank, ...others }: SearchInput, snapshot: Snapshot): Promise<SearchRequest> {
  if (typeof rank !== 'function') return { ...others, rank };
  return { ...others, rank: await rank((id, module) => readDescriptor(snapshot, id, module)) };
}

/** Without a finder every match was compared, also those beyond a greatest distance. */
function rankingOf(
  { rank }: SearchRequest,
  { near, descriptorCounts }: Snapshot,
  { ranking, rows }: Page,
  found: number | undefined,
): Ranking | undefined {
  if (rank?.vector === undefined || ranking !== undefined) return ranking;
  if (rank.maxDistance === undefined) return { exact: true, distances: found ?? rows.length, inMemory: false };
  const distances = near?.compared ?? descriptorCounts.get(rank.module) ?? 0;
  return { exact: true, distances, inMemory: near !== undefined };
}

async function readGroups(
  request: SearchRequest,
  snapshot: Snapshot,
  { rows, matches }: Page,
): Promise<Pick<SearchResult, 'groups' | 'matches'>> {
  const { members, collapseBy, rank } = request;
  if (members === undefined || collapseBy === undefined) return {};
  const heads = rows.map(({ doc }) => doc);
  const groups = await readMembers(members, { ...request, collapseBy, rank }, snapshot, heads);
  const countAll = async () => (await countMatches({ ...request, collapseBy: undefined }, snapshot)).found;
  // Heads without a value may be left out.
  const nothing = { value: undefined, total: 0, members: [] };
  return {
    groups: heads.map((doc) => groups.get(doc) ?? nothing),
    // Beside the other documents of groups, nobody asks for all.
    ...(members.withoutHeads ? {} : { matches: matches ?? (await countAll()) }),
  };
}
