import { AkinError, type Query } from '@akin/domain';
import type { Candidates } from '@akin/searcher';
import type { NearQuery } from '../search/near-query.ts';

/*
 * Request and response of a search node, as JSON. Vectors and lists of candidates are base64 of little-endian numbers.
 * Queries are sent as trees: the node makes SQL from them itself.
 */

/** Changes with each format that an earlier version cannot read. */
const VERSION = 2;

/** A query of a search. */
export interface NamedQuery {
  /** Its parameter, for errors. */
  readonly name: string;
  readonly query: Query;
  /** Whether its matches are cached for other searches. */
  readonly isCached: boolean;
}

export interface NodeRequest {
  /** The number of the collection. */
  readonly collection: number;
  readonly commit: bigint;
  /** Time of the commit, as the database writes it. */
  readonly committedAt: string;
  readonly schemaVersion: number;
  /** Number of shards of the collection. */
  readonly shards: number;
  /** Number of documents with a vector of the module. */
  readonly documents: number;
  /** The vector, and how many rows near it to find. */
  readonly near: NearQuery;
  readonly now: Date;
  readonly timeZone: string;
  readonly queries: readonly NamedQuery[];
  /** The queries that candidates must match, as indexes into `queries`. */
  readonly matchIndexes: readonly number[];
  /** For each further count, the queries that its documents must match, as indexes into `queries`. */
  readonly countIndexes: readonly (readonly number[])[];
  /** Documents that are left out, because another one represents them. */
  readonly collapsed: readonly bigint[];
  /** The words that clauses of the queries expand to. */
  readonly expansions: ReadonlyMap<Query, readonly string[]>;
}

/** The results of a node in some shards. */
export interface NodeResponse {
  /** The searched shards among the requested ones. */
  readonly shards: readonly number[];
  /** The shards that the node may keep. Undefined: any. */
  readonly assignedShards: readonly number[] | undefined;
  /** Undefined if no shard was searched. */
  readonly candidates: Candidates | undefined;
  /** One for each requested count; none if no shard was searched. */
  readonly counts: readonly number[];
}

export function writeRequest(request: NodeRequest): string {
  const { expansions, near, commit, collapsed, now, ...others } = request;
  const { vector, exactRows, ...limits } = near;
  const written = {
    ...others,
    version: VERSION,
    commit: Number(commit),
    now: now.toISOString(),
    collapsed: collapsed.map(Number),
    near: { ...limits, vector: toBase64(vector), exactRows: Number.isFinite(exactRows) ? exactRows : null },
  };
  return JSON.stringify(written, (_, value) => {
    const words = expansions.get(value);
    return words === undefined ? value : { ...value, words };
  });
}

/** @throws AkinError bad-request for an invalid format */
export function readRequest(text: string): NodeRequest {
  const expansions = new Map<Query, readonly string[]>();
  let sent: ReturnType<typeof checked>;
  try {
    sent = checked(
      JSON.parse(text, (_, value) => {
        if (Array.isArray(value?.words) && typeof value.kind === 'string') expansions.set(value, value.words);
        return value;
      }),
    );
  } catch (error) {
    throw new AkinError(
      'bad-request',
      'The request cannot be read: gateways and search nodes must have the same version of akin.',
      { cause: error },
    );
  }
  const { commit, now, collapsed, near, ...others } = sent;
  return {
    ...others,
    commit: BigInt(commit),
    now: new Date(now),
    collapsed: collapsed.map(BigInt),
    near: { ...near, vector: toFloats(near.vector), exactRows: near.exactRows ?? Number.POSITIVE_INFINITY },
    expansions,
  };
}

/** Throws for another format. Errors inside queries are found when the queries are compiled to SQL. */
function checked(sent: Record<string, unknown>) {
  const near = sent.near as Record<string, unknown>;
  const numbers = ['version', 'collection', 'commit', 'schemaVersion', 'shards', 'documents'] as const;
  for (const name of numbers) requireThat(isCount(sent[name]), name);
  requireThat(sent.version === VERSION, 'version');
  for (const name of ['committedAt', 'now', 'timeZone']) requireThat(typeof sent[name] === 'string', name);
  for (const name of ['k', 'minCompared', 'maxCandidates']) requireThat(isCount(near[name]), name);
  requireThat(near.exactRows === null || isCount(near.exactRows), 'exactRows');
  requireThat(near.maxDistance === undefined || typeof near.maxDistance === 'number', 'maxDistance');
  requireThat(typeof near.vector === 'string' && typeof near.module === 'string', 'vector');
  const queries = listOf(sent.queries, (one) => isObject(one) && isObject(one.query) && typeof one.name === 'string');
  const isQueryIndex = (one: unknown) => isCount(one) && one < queries.length;
  listOf(sent.matchIndexes, isQueryIndex);
  listOf(sent.countIndexes, (one) => listOf(one, isQueryIndex) !== undefined);
  listOf(sent.collapsed, isCount);
  return sent as unknown as Omit<NodeRequest, 'commit' | 'now' | 'collapsed' | 'near' | 'expansions'> & {
    readonly commit: number;
    readonly now: string;
    readonly collapsed: readonly number[];
    readonly near: Omit<NearQuery, 'vector' | 'exactRows'> & {
      readonly vector: string;
      readonly exactRows: number | null;
    };
  };
}

export function writeResponse({ shards, assignedShards, candidates, counts }: NodeResponse): string {
  if (candidates === undefined) return JSON.stringify({ shards, assignedShards, counts });
  const { docs, low, estimate, high, ...others } = candidates;
  const lists = { docs: toBase64(docs), low: toBase64(low), estimate: toBase64(estimate), high: toBase64(high) };
  return JSON.stringify({ shards, assignedShards, counts, candidates: { ...others, ...lists } });
}

/** @throws Error for an invalid format */
export function readResponse(text: string): NodeResponse {
  const { shards, assignedShards, counts, candidates } = JSON.parse(text);
  listOf(shards, isCount);
  if (assignedShards !== undefined) listOf(assignedShards, isCount);
  listOf(counts, isCount);
  if (candidates === undefined) return { shards, assignedShards, counts, candidates };
  requireThat(isCount(candidates.matches) && isCount(candidates.compared), 'matches');
  const docs = new Float64Array(fromBase64(candidates.docs));
  const [low, estimate, high] = [candidates.low, candidates.estimate, candidates.high].map(toFloats);
  if (low?.length !== docs.length || estimate?.length !== docs.length || high?.length !== docs.length) {
    throw new Error('lists of different lengths');
  }
  return { shards, assignedShards, counts, candidates: { ...candidates, docs, low, estimate, high } };
}

function toBase64({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

function toFloats(text: string): Float32Array {
  return new Float32Array(fromBase64(text));
}

/** In separate memory, aligned for any numbers. */
function fromBase64(text: string): ArrayBuffer {
  const bytes = Buffer.from(text, 'base64');
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
}

function requireThat(isValid: boolean, name: string): void {
  if (!isValid) throw new Error(`unexpected ${name}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function listOf(value: unknown, isValid: (one: unknown) => boolean): readonly unknown[] {
  if (!Array.isArray(value) || !value.every(isValid)) throw new Error('unexpected list');
  return value;
}
