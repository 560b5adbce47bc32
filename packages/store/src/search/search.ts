import { AkinError } from '@akin/domain';
import { shardsOf } from '../collections/shards.ts';
import type { Collection, Store } from '../context.ts';
import { NodeCandidates } from '../nodes/node-candidates.ts';
import { NotInMemory } from '../searcher/not-in-memory.ts';
import { statements } from '../statements.ts';
import type { CandidateFinder } from './candidate-finder.ts';
import type { Clock } from './date-math.ts';
import { expandWords } from './expand-words.ts';
import type { MatchedWithout } from './facet-plans.ts';
import type { FacetResult } from './facet-request.ts';
import { countFacets } from './facets.ts';
import { foldDuplicates, withoutQueries } from './fold-duplicates.ts';
import { completeDocuments, type ReadDocument } from './hydrate.ts';
import { InMemoryCandidates } from './in-memory-candidates.ts';
import { matchedBy } from './matching.ts';
import { findNear, isByNearness, readNearest } from './nearest.ts';
import { NO_DOCUMENTS, type Page, readPage } from './page.ts';
import { readDescriptor } from './read.ts';
import type { Ranking, SearchQuestion, SearchRequest, SearchResult } from './request.ts';
import { freshnessFor, type Snapshot, withoutTransaction, withSnapshot } from './snapshot.ts';
import { TimeLimit } from './time-limit.ts';
import { readTotals } from './totals.ts';

/**
 * Answers a search from one commit: which documents match, in what order, how many, and the fields of one page of them.
 *
 * @throws AkinError bad-request for unknown fields, values that do not fit, a foreign cursorMark; the reason of the signal
 */
export async function search(
  store: Store,
  collection: Collection,
  { atLeast, signal, ...question }: SearchQuestion,
): Promise<SearchResult> {
  if (question.cursorMark !== undefined && (question.start ?? 0) > 0) {
    throw new AkinError('bad-request', 'start must be 0 with cursorMark: the mark says where to continue.');
  }
  if (question.cursorMark !== undefined && question.collapse) {
    throw new AkinError(
      'bad-request',
      'collapse is not possible with cursorMark: page with start, or remove collapse.',
    );
  }
  // One moment for all statements, even if the request does not give it.
  const { now = new Date(), timeZone = 'UTC' } = question;
  const clock = { now, timeZone };
  // A cursor mark must make progress, so its page is never partial.
  const limited = question.timeAllowed !== undefined && question.cursorMark === undefined;
  const deadline = limited ? performance.now() + (question.timeAllowed as number) : undefined;
  let asked: { readonly finder: CandidateFinder | undefined; readonly commit: bigint } | undefined;
  const answer = async (from: 'memory' | 'database', isCurrent: boolean) => {
    signal?.throwIfAborted();
    let shown: ReadonlyMap<bigint, ReadDocument> = new Map();
    const answerFrom = async (whole: Snapshot): Promise<SearchResult | NotInMemory> => {
      const request = await requestOf(question, whole);
      const ranked = request.rank !== undefined;
      const limit = new TimeLimit(whole.tx, deadline);
      // The database does not search what search nodes have.
      const isCompleted = from === 'database' && asked?.finder?.isInPart === true;
      const found =
        from === 'memory' || isCompleted
          ? await limit.within(() =>
              finderOf(store, collection, request, whole, clock, { deadline, signal, isCompleted }),
            )
          : undefined;
      if (found instanceof NotInMemory) return found;
      using finder = found;
      asked = { finder, commit: whole.commit };
      const near = finder && (await findNear(store, finder, request, whole));
      // Comparing everything waits for other searches that do.
      const isLarge = documentsOf(request, whole) > store.exactDocuments;
      const inDatabase = finder && !isCompleted && isLarge ? NEEDS_DATABASE : undefined;
      if (inDatabase && request.rank?.maxDistance !== undefined && near === undefined) return inDatabase;
      const fold = () => foldDuplicates(request, { ...whole, near }, clock);
      const folded = request.collapse
        ? await limit.within(() => statements('SELECT duplicates', collection, fold))
        : undefined;
      const snapshot = { ...whole, near, folded: folded?.docs };
      const read = await limit.within(() =>
        statements('SELECT page', collection, async () => {
          await expandWords(request, snapshot, clock);
          return readHits(store, finder, request, snapshot, clock, inDatabase);
        }),
      );
      if (read instanceof NotInMemory) return read;
      const page = read ?? NOTHING_READ;
      shown = page.documents;
      const totals = await limit.within(() =>
        statements('SELECT totals', collection, () => readTotals(request, snapshot, clock, page)),
      );
      const wanted = request.facets ?? [];
      const count = async () => {
        const counts = finder && page.ranking?.inMemory ? await finder.facetCounts(request) : undefined;
        const known = new Map<number, FacetResult>();
        for (const [index, count] of counts ?? []) known.set(index, { kind: 'query', count });
        const matchedWithout: MatchedWithout = async (without) => {
          const left = await withoutQueries(without, request, snapshot, clock);
          return matchedBy(left.request, left.snapshot);
        };
        return countFacets(wanted, matchedWithout, snapshot, clock, known);
      };
      const facets = await limit.within(
        wanted.length === 0 ? count : () => statements('SELECT facets', collection, count),
      );
      const best = totals?.best ?? null;
      const ranking = rankingOf(request, snapshot, page, totals?.found);
      return {
        commit: Number(snapshot.commit),
        collection: { name: snapshot.name, schemaVersion: snapshot.schema.version },
        numFound: totals?.found ?? (page.rows.length === 0 ? 0 : (request.start ?? 0) + page.rows.length),
        numFoundExact: totals?.exact ?? false,
        partial: limit.over,
        ...(best === null ? {} : ranked ? { minDistance: best } : { maxScore: best }),
        hits: page.rows.map(({ doc, id, value }) => ({
          id,
          ...(folded && { collapsed: folded.counts.get(doc) ?? 0 }),
          ...(value === null ? {} : ranked ? { distance: value } : { score: value }),
          document: page.documents.get(doc)?.document ?? new Map(),
          distances: page.documents.get(doc)?.distances ?? [],
        })),
        ...(ranking === undefined || read === undefined ? {} : { ranking }),
        ...(request.cursorMark === undefined ? {} : { nextCursorMark: page.mark ?? request.cursorMark }),
        facets: facets ?? [],
      };
    };
    // Groups change between commits: a standby with the same commit may still have older ones.
    const freshness = question.collapse ? undefined : freshnessFor(collection, atLeast, isCurrent);
    const quickly = isQuick(question) ? withoutTransaction(store, collection, answerFrom, freshness) : undefined;
    const answered = (await quickly) ?? (await withSnapshot(store, collection, answerFrom, freshness));
    await completeDocuments(store, shown.values());
    return answered;
  };
  const first = await answer('memory', atLeast === undefined);
  if (!(first instanceof NotInMemory)) return first;
  // Half of the time is reserved for the database.
  const patience = deadline === undefined ? undefined : (deadline - performance.now()) / 2;
  // Search nodes may move to later commits while a search is at an earlier one.
  const isRead =
    first === NEEDS_DATABASE
      ? asked?.finder?.isElsewhere === true && (await lastCommit(store, collection)) > asked.commit
      : await store.inMemory.read(store, collection, first, patience);
  // The data in memory is of the last commit.
  const second = isRead ? await answer('memory', true) : first;
  if (!(second instanceof NotInMemory)) return second;
  const isLarge = first === NEEDS_DATABASE || first.documents > store.exactDocuments;
  return store.inMemory.inDatabase(isLarge, async () => {
    const third = await answer('database', true);
    if (third instanceof NotInMemory) throw new Error('the database does not hold itself');
    return third;
  });
}

async function lastCommit({ engine }: Store, { id }: Collection): Promise<bigint> {
  const [row] = await engine.query<{ commit: bigint }>('select commit from akin.collections where id = $1', [id]);
  return row?.commit ?? 0n;
}

/** Whether a search has so few statements that a commit between them is unlikely. */
function isQuick({ facets = [], collapse, timeAllowed }: SearchQuestion): boolean {
  return facets.length === 0 && !collapse && timeAllowed === undefined;
}

/** The searcher cannot answer although it has the collection, or has just lost it. */
const NEEDS_DATABASE = new NotInMemory('', 0, 0);

/** Number of documents with the descriptor that a search ranks by. */
function documentsOf({ rank }: SearchRequest, { descriptorCounts }: Snapshot): number {
  return rank === undefined ? 0 : (descriptorCounts.get(rank.module) ?? 0);
}

/** The finder of candidates for a search, if it is useful. */
async function finderOf(
  store: Store,
  collection: Collection,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  options: ConstructorParameters<typeof NodeCandidates>[5],
): Promise<CandidateFinder | NotInMemory | undefined> {
  const { rank } = request;
  if (rank === undefined || (rank.maxDistance === undefined && !isByNearness(request))) return undefined;
  const { tx, commit, modules } = snapshot;
  const documents = documentsOf(request, snapshot);
  const descriptor = modules.find(({ name }) => name === rank.module)?.descriptor;
  if (documents === 0 || descriptor === undefined) return undefined;
  if (store.nodes !== undefined && shardsOf(collection) > 1) {
    return new NodeCandidates(store.nodes, collection, documents, snapshot, clock, options);
  }
  const held = await store.inMemory.find(collection, tx, commit, rank.module);
  if (held === undefined) return new NotInMemory(rank.module, documents, descriptor.dimensions);
  return new InMemoryCandidates(store, held, snapshot, clock);
}

async function requestOf({ rank, ...others }: SearchQuestion, snapshot: Snapshot): Promise<SearchRequest> {
  if (typeof rank !== 'function') return { ...others, rank };
  return { ...others, rank: await rank((id, module) => readDescriptor(snapshot, id, module)) };
}

/** If no finder was used, every match was compared, and also those that a greatest distance excluded. */
function rankingOf(
  { rank }: SearchRequest,
  { near, descriptorCounts }: Snapshot,
  { ranking, rows }: Page,
  found: number | undefined,
): Ranking | undefined {
  if (rank === undefined || ranking !== undefined) return ranking;
  if (rank.maxDistance === undefined) return { exact: true, distances: found ?? rows.length, inMemory: false };
  const distances = near?.compared ?? descriptorCounts.get(rank.module) ?? 0;
  return { exact: true, distances, inMemory: near !== undefined };
}

async function readHits(
  store: Store,
  finder: CandidateFinder | undefined,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  inDatabase: NotInMemory | undefined,
): Promise<Page | NotInMemory> {
  const nearest = finder && isByNearness(request) ? await readNearest(store, finder, request, snapshot) : undefined;
  if (nearest !== undefined) return { ...nearest, mark: undefined, constantScore: null };
  if (inDatabase && isByNearness(request)) return inDatabase;
  return readPage(store, request, snapshot, clock);
}

const NOTHING_READ: Page = { rows: [], documents: NO_DOCUMENTS, mark: undefined, constantScore: null };
