import { AkinError } from '@akin/domain';
import type { Collection, Store } from '../context.ts';
import { NotInMemory } from '../searcher/not-in-memory.ts';
import { statements } from '../statements.ts';
import { groupColumn } from './collapse-by-field.ts';
import { collapseDuplicates, withQueriesRemoved } from './collapse-duplicates.ts';
import type { Clock } from './date-math.ts';
import { expandWords } from './expand-words.ts';
import type { MatchedWithoutQueries } from './facet-plans.ts';
import type { FacetResult } from './facet-request.ts';
import { countFacets } from './facets.ts';
import { readMembers } from './group-members.ts';
import { InMemoryCandidates } from './in-memory-candidates.ts';
import { matchedBy } from './matching.ts';
import { findNear, isByNearness, readNearest } from './nearest.ts';
import { NO_DOCUMENTS, type Page, readPage } from './page.ts';
import { readDescriptor } from './read.ts';
import type { Ranking, SearchInput, SearchRequest, SearchResult } from './request.ts';
import { type Snapshot, withoutTransaction, withSnapshot } from './snapshot.ts';
import { TimeLimit } from './time-limit.ts';
import { readTotals } from './totals.ts';

/**
 * Answers a search from one commit: which documents match, in what order, how many, and the fields of one page of them.
 *
 * @throws AkinError bad-request for unknown fields, values that do not fit, a foreign cursorMark; the reason of the
 * signal
 */
export async function search(store: Store, collection: Collection, question: SearchInput): Promise<SearchResult> {
  if (question.cursorMark !== undefined && (question.start ?? 0) > 0) {
    throw new AkinError('bad-request', 'start must be 0 with cursorMark: the mark says where to continue.');
  }
  if (question.cursorMark !== undefined && question.collapse) {
    throw new AkinError(
      'bad-request',
      'collapse is not possible with cursorMark: page with start, or remove collapse.',
    );
  }
  return new Search(store, collection, question).run();
}

/** One search: an attempt in memory, perhaps another one after the collection was read, perhaps one in the database. */
class Search {
  readonly #store: Store;
  readonly #collection: Collection;
  readonly #question: Omit<SearchInput, 'atLeast' | 'signal'>;
  readonly #atLeast: bigint | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #clock: Clock;
  readonly #deadline: number | undefined;

  constructor(store: Store, collection: Collection, { atLeast, signal, ...question }: SearchInput) {
    this.#store = store;
    this.#collection = collection;
    this.#question = question;
    this.#atLeast = atLeast;
    this.#signal = signal;
    // One moment for all statements, even if the request does not give it.
    this.#clock = { now: question.now ?? new Date(), timeZone: question.timeZone ?? 'UTC' };
    // A cursor mark must make progress, so its page is never partial.
    const limit = question.cursorMark === undefined ? question.timeAllowed : undefined;
    this.#deadline = limit === undefined ? undefined : performance.now() + limit;
  }

  async run(): Promise<SearchResult> {
    const first = await this.#attempt('memory', this.#atLeast === undefined);
    if (!(first instanceof NotInMemory)) return first;
    // The data in memory is of the last commit.
    const second = (await this.#mayBeInMemoryNow(first)) ? await this.#attempt('memory', true) : first;
    if (!(second instanceof NotInMemory)) return second;
    const isLarge = first === NEEDS_DATABASE || first.documents > this.#store.exactDocuments;
    return this.#store.inMemory.inDatabase(isLarge, async () => {
      const third = await this.#attempt('database', true);
      if (third instanceof NotInMemory) throw new Error('an attempt in the database needs nothing in memory');
      return third;
    });
  }

  /**
   * Reads the collection into memory, if it is missing there. @returns whether another attempt in memory is worth it
   */
  async #mayBeInMemoryNow(first: NotInMemory): Promise<boolean> {
    if (first === NEEDS_DATABASE) return false;
    // Half of the time is reserved for the database.
    const readMilliseconds = this.#deadline === undefined ? undefined : (this.#deadline - performance.now()) / 2;
    return this.#store.inMemory.read(this.#store, this.#collection, first, readMilliseconds);
  }

  async #attempt(searcher: 'memory' | 'database', isCurrent: boolean): Promise<SearchResult | NotInMemory> {
    this.#signal?.throwIfAborted();
    const [store, collection, question] = [this.#store, this.#collection, this.#question];
    const find = (snapshot: Snapshot) => this.#find(snapshot, searcher);
    // Groups change between commits: a standby with the same commit may still have older ones.
    const freshness = question.collapse ? undefined : { atLeast: this.#atLeast, isCurrent };
    const quickly = isQuick(question) ? await withoutTransaction(store, collection, find, freshness) : undefined;
    return quickly ?? withSnapshot(store, collection, find, freshness);
  }

  async #find(base: Snapshot, searcher: 'memory' | 'database'): Promise<SearchResult | NotInMemory> {
    const [store, collection, clock] = [this.#store, this.#collection, this.#clock];
    const request = await requestOf(this.#question, base);
    const limit = new TimeLimit(base.tx, this.#deadline);
    const found = searcher === 'memory' ? await limit.within(() => this.#finderFor(request, base)) : undefined;
    if (found instanceof NotInMemory) return found;
    using finder = found;
    const near = finder && (await findNear(store, finder, request, base));
    // The database compares everything only in the last attempt, which waits for other such searches.
    const isLarge = documentsToCompare(request, base) > store.exactDocuments;
    const needsDatabase = finder && isLarge ? NEEDS_DATABASE : undefined;
    if (needsDatabase && request.rank?.maxDistance !== undefined && near === undefined) return needsDatabase;
    const collapse = () => collapseDuplicates(request, { ...base, near }, clock);
    const collapsed = request.collapse
      ? await limit.within(() => statements('SELECT duplicates', collection, collapse))
      : undefined;
    const whole = { ...base, near, collapsed: collapsed?.docs };
    if (request.collapseBy) groupColumn(request.collapseBy, whole);
    const nearest = finder && isByNearness(request) ? finder : undefined;
    const read = await limit.within(() =>
      statements('SELECT page', collection, async () => {
        await expandWords(request, whole, clock);
        return readHits(store, nearest, request, whole, clock, needsDatabase);
      }),
    );
    if (read instanceof NotInMemory) return read;
    const page = read ?? NOTHING_READ;
    const totals = await limit.within(() =>
      statements('SELECT totals', collection, () => readTotals(request, whole, clock, page)),
    );
    const count = () => countAll(request, whole, clock, page.ranking?.inMemory ? finder : undefined);
    const facets = await limit.within(
      request.facets?.length ? () => statements('SELECT facets', collection, count) : count,
    );
    const groups = request.members
      ? await limit.within(() =>
          statements('SELECT groups', collection, () => readGroups(store, request, whole, clock, page)),
        )
      : undefined;
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
      ...(ranking === undefined || read === undefined ? {} : { ranking }),
      ...(request.cursorMark === undefined ? {} : { nextCursorMark: page.mark ?? request.cursorMark }),
      facets: facets ?? [],
      ...groups,
    };
  }

  async #finderFor(request: SearchRequest, snapshot: Snapshot): Promise<InMemoryCandidates | NotInMemory | undefined> {
    const [store, collection, clock] = [this.#store, this.#collection, this.#clock];
    const { rank } = request;
    if (rank?.vector === undefined || (rank.maxDistance === undefined && !isByNearness(request))) return undefined;
    const { tx, commit, modules } = snapshot;
    const documents = documentsToCompare(request, snapshot);
    const descriptor = modules.find(({ name }) => name === rank.module)?.descriptor;
    if (documents === 0 || descriptor === undefined) return undefined;
    const held = await store.inMemory.find(collection, tx, commit, rank.module);
    if (held === undefined) return new NotInMemory(rank.module, documents, descriptor.dimensions);
    return new InMemoryCandidates(store, held, snapshot, clock);
  }
}

/** @param finder counts some of the facets, if it found the page */
async function countAll(
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  finder: InMemoryCandidates | undefined,
): Promise<FacetResult[]> {
  const known = new Map<number, FacetResult>();
  for (const [index, count] of (await finder?.facetCounts(request)) ?? []) known.set(index, { kind: 'query', count });
  const matchedWithout: MatchedWithoutQueries = async (without) => {
    const remaining = await withQueriesRemoved(without, request, snapshot, clock);
    return matchedBy(remaining.request, remaining.snapshot);
  };
  return countFacets(request.facets ?? [], matchedWithout, snapshot, clock, known);
}

/** Whether a search has so few statements that a commit between them is unlikely. */
function isQuick({ facets = [], collapse, timeAllowed }: SearchInput): boolean {
  return facets.length === 0 && !collapse && timeAllowed === undefined;
}

/** The searcher has the collection, or has just lost it, but cannot answer. */
const NEEDS_DATABASE = new NotInMemory('', 0, 0);

/** Number of documents with the descriptor that a search ranks by. */
function documentsToCompare({ rank }: SearchRequest, { descriptorCounts }: Snapshot): number {
  return rank === undefined ? 0 : (descriptorCounts.get(rank.module) ?? 0);
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

async function readHits(
  store: Store,
  finder: InMemoryCandidates | undefined,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  needsDatabase: NotInMemory | undefined,
): Promise<Page | NotInMemory> {
  const nearest = finder && (await readNearest(store, finder, request, snapshot, clock));
  if (nearest !== undefined) return { ...nearest, mark: undefined, constantScore: null };
  if (needsDatabase && isByNearness(request)) return needsDatabase;
  return readPage(store, request, snapshot, clock);
}

async function readGroups(
  store: Store,
  request: SearchRequest,
  snapshot: Snapshot,
  clock: Clock,
  { rows, matches }: Page,
): Promise<Pick<SearchResult, 'groups' | 'matches'>> {
  const { members, collapseBy, rank } = request;
  if (members === undefined || collapseBy === undefined) return {};
  const heads = rows.map(({ doc }) => doc);
  const groups = await readMembers(store, members, { ...request, collapseBy, rank }, snapshot, clock, heads);
  // Heads without a value may be left out.
  const nothing = { value: undefined, total: 0, members: [] };
  return {
    groups: heads.map((doc) => groups.get(doc) ?? nothing),
    // Beside the other documents of groups, nobody asks for all.
    ...(members.withoutHeads ? {} : { matches: matches ?? (await countMatches(request, snapshot, clock)) }),
  };
}

/** Number of documents that match, shown or not. */
async function countMatches(request: SearchRequest, snapshot: Snapshot, clock: Clock): Promise<number> {
  const all = {
    ...request,
    collapseBy: undefined,
    start: 0,
    rows: 0,
    cursorMark: undefined,
    sort: [{ name: 'id', direction: 'asc' as const }],
  };
  return (await readTotals(all, snapshot, clock, { ...NOTHING_READ, constantScore: 0 })).found;
}

const NOTHING_READ: Page = { rows: [], documents: NO_DOCUMENTS, mark: undefined, constantScore: null };
