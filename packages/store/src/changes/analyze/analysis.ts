import { AkinError, documentFromJson, type ErrorCode, type Schema } from '@akin/domain';
import { descriptorTable } from '../../database/collections/collection-tables.ts';
import { collectionStates } from '../../database/collections/collections.ts';
import { appliedModules, modelSetOf } from '../../database/collections/model-set.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { columnsOf } from '../../database/engine/binary.ts';
import type { ParsedOutputs } from '../../database/model-sets.ts';
import { codesOf, etagOf, halfvecOf } from '../../database/outputs/descriptor-rows.ts';
import { modelsIn, writeAnalysis } from '../../database/outputs/pending-analysis.ts';
import { Params } from '../../search/params.ts';
import { finishRequests } from '../accept/requests.ts';
import type { RequestOrigin } from '../accept/staging.ts';
import { countFailures } from '../commit/failures.ts';
import type { Store } from '../context.ts';

/** Names one attempt at one analysis. Results of an outdated attempt are dropped. */
export interface AnalysisRef {
  readonly collection: Collection;
  readonly request: bigint;
  readonly position: number;
  readonly attempt: number;
}

export interface AnalysisTask extends AnalysisRef {
  readonly id: string;
  readonly image: string;
  /** The modules to apply. Undefined: all. */
  readonly modules: readonly string[] | undefined;
  /** The models of the collection, by module, which must analyze it. */
  readonly models: ReadonlyMap<string, string>;
  readonly acceptedAt: Date;
  readonly origin: RequestOrigin;
}

export interface ClaimOptions {
  /** Only this many documents from the start of each request. Default: all. */
  readonly first?: number;
  /**
   * Maximum number of images of one host that are analyzed at a time, including those claimed before. Default: no
   * limit.
   */
  readonly perHost?: number;
  /** Which collections to skip, by their models. */
  readonly shouldSkip?: (models: ReadonlyMap<string, string>) => boolean;
  /** The turns of collections, for callers that claim repeatedly. */
  readonly turns?: ClaimTurns;
}

/**
 * A collection without waiting images is searched again after this time. A search of many collections may take long, so
 * they are also not searched for SEARCH_PAUSE_FACTOR times its duration: it uses a tenth of the time at most. After an
 * event, a caller searches at once.
 */
const SEARCH_AGAIN_MILLISECONDS = 1_000;
const SEARCH_PAUSE_FACTOR = 9;

/** Remembers in which collections there was nothing to claim, and which one had the last turn. */
export class ClaimTurns {
  readonly #until = new Map<number, number>();
  readonly #changed = new Set<number>();
  #last = 0;

  /** Call this after an event in a collection. */
  onChange(collection: number): void {
    this.#until.delete(collection);
    this.#changed.add(collection);
  }

  /** The collections that may have images, in turn. */
  order(collections: readonly Collection[]): Collection[] {
    const now = performance.now();
    this.#changed.clear();
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
    const some = collections.filter(({ id }) => !this.#until.has(id)).sort((a, b) => a.id - b.id);
    const next = some.findIndex(({ id }) => id > this.#last);
    return next < 0 ? some : [...some.slice(next), ...some.slice(0, next)];
  }

  recordClaim({ id }: Collection): void {
    this.#last = id;
  }

  /** @param searched milliseconds that the search of these collections took */
  recordEmptySearch(collections: readonly Collection[], searched: number): void {
    const until = performance.now() + Math.max(SEARCH_AGAIN_MILLISECONDS, SEARCH_PAUSE_FACTOR * searched);
    // An event may have arrived after the statement read the table.
    for (const { id } of collections) if (!this.#changed.has(id)) this.#until.set(id, until);
  }
}

const ANY_NUMBER = 2_147_483_647;

/**
 * Claims up to `limit` waiting images: the same number from each collection that has some, or all of those with fewer,
 * oldest first within each collection. Each call starts a new attempt of what it claims; nobody else gets them until
 * it is queued again. Collections with other models are skipped. It may claim fewer although more exist: call it until it
 * claims none.
 */
export async function claimForAnalysis(
  store: Store,
  limit: number,
  options: ClaimOptions = {},
): Promise<AnalysisTask[]> {
  await store.engine.disk?.requireSpace('work');
  const { turns = new ClaimTurns() } = options;
  const tasks: AnalysisTask[] = [];
  const open = await collectionStates(store, 'open');
  const versions = new Map(open.map(({ collection, schemaVersion }) => [collection.id, schemaVersion]));
  let candidates = turns.order(open.filter(({ held }) => !held).map(({ collection }) => collection));
  while (candidates.length > 0 && tasks.length < limit) {
    const share = Math.ceil((limit - tasks.length) / candidates.length);
    const more: Collection[] = [];
    const empty: Collection[] = [];
    let searched = 0;
    for (const collection of candidates) {
      const max = Math.min(share, limit - tasks.length);
      if (max === 0) break;
      const from = performance.now();
      const claimed = await claimIn(store, collection, versions.get(collection.id), max, options);
      if (claimed.length > 0) turns.recordClaim(collection);
      if (claimed.length === max) more.push(collection);
      if (claimed.length === 0) {
        empty.push(collection);
        searched += performance.now() - from;
      }
      tasks.push(...claimed);
    }
    turns.recordEmptySearch(empty, searched);
    candidates = more;
  }
  return tasks;
}

interface ClaimedRow {
  request: bigint;
  position: number;
  attempt: number;
  id: string;
  modules: string | null;
  document: string;
  accepted_at: Date;
  request_id: string | null;
  traceparent: string | null;
}

async function claimIn(
  store: Store,
  collection: Collection,
  schemaVersion: number | undefined,
  limit: number,
  { first = ANY_NUMBER, perHost = ANY_NUMBER, shouldSkip = () => false }: ClaimOptions,
): Promise<AnalysisTask[]> {
  const S = collection.sqlSchema;
  const otherModules = `array(select d.module from ${S}.descriptor_counts d
                           join unnest($4::text[], $5::text[]) own (module, model) using (module)
                          where d.model <> own.model)`;
  // Hundreds of thousands may wait. The statement reads only the first few, in the order of an index, and computes once
  // what is the same for all rows.
  const sql = `with busy as materialized (
         select host, count(*) as count from ${S}.operations where state = 'analyzing' and host is not null group by host
       ), candidates as materialized (
         select q.request, q.position, q.host, r.first_seq
           from (select request, first_seq from ${S}.requests
                  where not finished and first_seq is not null order by first_seq) r
          cross join lateral (
            select o.request, o.position, o.host from ${S}.operations o
             where o.request = r.request and o.state = 'queued' and (o.available_at is null or o.available_at <= now())
               and o.position < $2
               and (o.host is null or o.host <> all (array(select host from busy where count >= $3)))
               -- Modules whose models are not those of the collection: another process analyzes them.
               and not coalesce(string_to_array(o.modules, ','), ${otherModules}) && ${otherModules}
             order by o.position limit $1 for update skip locked
          ) q
          limit $1
       ), picked as (
         select request, position from (
           select c.*, coalesce(b.count, 0) + row_number() over (partition by host order by first_seq, position) as rank_in_host
             from candidates c left join busy b using (host)
         ) ranked where host is null or rank_in_host <= $3
       )
       update ${S}.operations o set state = 'analyzing', attempt = o.attempt + 1, available_at = now()
         from picked where o.request = picked.request and o.position = picked.position
       returning o.request, o.position, o.attempt, o.id, o.modules, o.document,
                 (select accepted_at from ${S}.requests r where r.request = o.request) as accepted_at,
                 (select request_id from ${S}.requests r where r.request = o.request) as request_id,
                 (select traceparent from ${S}.requests r where r.request = o.request) as traceparent`;
  const { models } = modelSetOf(store, await loadSchema(store, collection, schemaVersion));
  if (shouldSkip(models)) return [];
  const own = [[...models.keys()], [...models.values()]];
  const rows = await store.engine.transaction((tx) => tx.query<ClaimedRow>(sql, [limit, first, perHost, ...own]), {
    keyed: true,
    withoutSort: true,
  });
  if (rows.length === 0) return [];
  const { fields } = await loadSchema(store, collection);
  const tasks: AnalysisTask[] = [];
  for (const { request, position, attempt, id, modules, document, accepted_at, request_id, traceparent } of rows) {
    const ref = { collection, request, position, attempt };
    const image = imageOf(document, fields);
    // A reindex has given one of its fields another type.
    if (image instanceof AkinError) await failAnalysis(store, ref, { code: image.code, msg: image.message });
    else {
      tasks.push({
        ...ref,
        id,
        image,
        modules: modules?.split(',') ?? appliedModules(store, collection),
        models,
        acceptedAt: accepted_at,
        origin: { requestId: request_id ?? undefined, traceparent: traceparent ?? undefined },
      });
    }
  }
  return tasks;
}

/** The URL of the picture of a document; the error if the document does not fit into the schema. */
function imageOf(document: string, fields: Schema): string | AkinError {
  try {
    return String(documentFromJson(document, fields).fields.get('image') ?? '');
  } catch (error) {
    if (error instanceof AkinError) return error;
    throw error;
  }
}

/**
 * Stores the result of an analysis. The next commit shows it. Harmless if repeated or late. Outputs that the models of
 * the collection do not accept end the attempt.
 *
 * @param outputs JSON text
 * @returns false if the attempt is outdated: nothing was stored
 */
export async function saveAnalysis(
  store: Store,
  ref: AnalysisRef,
  outputs: string,
  thumbnail?: Uint8Array,
): Promise<boolean> {
  const { collection } = ref;
  const S = collection.sqlSchema;
  // A commit checks the models again.
  const modelSet = modelSetOf(store, await loadSchema(store, collection, 0));
  let parsed: ParsedOutputs;
  try {
    parsed = modelSet.parseOutputs(outputs);
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return (await failAnalysis(store, ref, { code: error.code, msg: error.message })) !== undefined;
  }
  const params = new Params();
  const [request, position, attempt] = [
    params.add(ref.request, 'int8'),
    params.add(ref.position, 'int4'),
    params.add(ref.attempt, 'int4'),
  ];
  const analysis = params.add(writeAnalysis(parsed, store.modules, modelsIn(parsed, modelSet.models)), 'text');
  const bytes = params.add(thumbnail ?? null, 'bytea');
  const etag = params.add(thumbnail ? etagOf(thumbnail) : null, 'text');
  const descriptors = Array.from(parsed.descriptors, ([module, descriptor]) => {
    const vector = params.add(halfvecOf(descriptor), 'halfvec');
    const codes = params.add(codesOf(descriptor), 'bytea');
    return `${module} as (
       insert into ${descriptorTable(S, module)} (doc, vector, codes) select doc, ${vector}, ${codes} from saved
       on conflict (doc) do update set vector = excluded.vector, codes = excluded.codes
     ),`;
  });
  const saved = await store.engine.query(
    `with saved as (
       update ${S}.operations set state = 'ready', available_at = null, analysis = ${analysis}
        where request = ${request} and position = ${position} and attempt = ${attempt} and state = 'analyzing'
        returning doc
     ), ${descriptors.join(' ')} thumbnails as (
       insert into ${S}.thumbnails (doc, bytes, etag)
       select doc, ${bytes}, ${etag} from saved where ${bytes} is not null
       on conflict (doc) do update set bytes = excluded.bytes, etag = excluded.etag
     )
     select doc from saved`,
    params.values,
  );
  if (saved.length > 0) store.events.notify(collection.id);
  return saved.length > 0;
}

/**
 * Ends an attempt without a result: finally, or until a retry.
 *
 * @param retryAfter milliseconds before each retry of an image whose failure may be temporary; none by default
 * @returns the operation with its new state; undefined if the attempt is outdated
 */
export async function failAnalysis(
  store: Store,
  ref: AnalysisRef,
  error: { readonly code: ErrorCode; readonly msg: string },
  retryAfter: readonly number[] = [],
): Promise<{ readonly seq: bigint; readonly state: 'failed' | 'queued' } | undefined> {
  const { collection } = ref;
  const S = collection.sqlSchema;
  const failed = await store.engine.transaction(async (tx) => {
    const [row] = await tx.query<{ seq: bigint; state: 'failed' | 'queued' }>(
      `update ${S}.operations o
          set state = case when failed_attempts < cardinality($4::int[]) then 'queued' else 'failed' end,
              available_at = now() + ($4::int[])[failed_attempts + 1] * interval '1 millisecond',
              failed_attempts = failed_attempts + 1, error_code = $5, error_msg = $6
        where request = $1 and position = $2 and attempt = $3 and state = 'analyzing'
       returning state, (select first_seq from ${S}.requests r where r.request = o.request) + position as seq`,
      [ref.request, ref.position, ref.attempt, retryAfter, error.code, error.msg],
    );
    if (row?.state === 'failed') {
      await countFailures(tx, S, [error.code]);
      await finishRequests(tx, collection, [ref.request]);
    }
    return row;
  });
  if (failed !== undefined) store.events.notify(collection.id);
  return failed;
}

/**
 * The analyses that started before a given time and have not ended, oldest first within each collection, at most 1000
 * of each. `models` also contains those that this process does not have.
 */
export async function listAnalyzing(
  store: Store,
  olderThanMilliseconds: number,
): Promise<(AnalysisRef & Pick<AnalysisTask, 'models'>)[]> {
  const refs: (AnalysisRef & Pick<AnalysisTask, 'models'>)[] = [];
  for (const { collection, schemaVersion } of await collectionStates(store, 'open')) {
    const rows = await store.engine.query<{ request: bigint; position: number; attempt: number }>(
      `select request, position, attempt from ${collection.sqlSchema}.operations
        where state = 'analyzing' and available_at <= now() - $1 * interval '1 millisecond'
        order by available_at limit 1000`,
      [olderThanMilliseconds],
    );
    if (rows.length === 0) continue;
    const schema = await loadSchema(store, collection, schemaVersion);
    const models = new Map([...modelSetOf(store, schema).models, ...schema.models]);
    for (const row of rows) refs.push({ collection, models, ...row });
  }
  return refs;
}

/**
 * Queues analyses again that were lost, or that never started.
 *
 * @param options.begun false: it does not count as an attempt
 * @param options.at not before this time
 * @returns how many; those that have ended are not among them
 */
export async function requeueAnalyses(
  store: Store,
  refs: readonly AnalysisRef[],
  options: { readonly begun: boolean; readonly at?: Date },
): Promise<number> {
  const byCollection = new Map<number, AnalysisRef[]>();
  for (const ref of refs) byCollection.set(ref.collection.id, [...(byCollection.get(ref.collection.id) ?? []), ref]);
  let count = 0;
  for (const [id, some] of byCollection) {
    const rows = await store.engine.query(
      `update ${some[0]?.collection.sqlSchema}.operations o
          set state = 'queued', available_at = $4, attempt = o.attempt - $5::int
         from unnest($1::bigint[], $2::int[], $3::int[]) as t (request, position, attempt)
        where o.request = t.request and o.position = t.position and o.attempt = t.attempt and o.state = 'analyzing'
        returning 1`,
      [...columnsOf(some, 'request', 'position', 'attempt'), options.at ?? null, options.begun ? 0 : 1],
    );
    count += rows.length;
    if (rows.length > 0) store.events.notify(id);
  }
  return count;
}

/** Queues all analyses of a collection again: no process works on them. */
export async function requeueAll(store: Store, { id, sqlSchema: S }: Collection): Promise<void> {
  await store.engine.query(
    `update ${S}.operations set state = 'queued', available_at = null where state = 'analyzing'`,
  );
  store.events.notify(id);
}
