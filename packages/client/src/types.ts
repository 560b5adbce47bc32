import type { Plain } from './json.ts';
import type { Scope } from './keys.ts';

/** A document to store. `id` is the only required field; any other name with a plain value becomes a field. */
export interface NewDocument {
  id: string;
  /** Address of the picture, http(s). */
  image?: string;
  labels?: readonly string[];
  /** `lat,lon` */
  location?: string;
  /** The `outputs` of an analysis: akin then does not fetch the picture. */
  import?: string;
  /** Base64 of a small picture to show, with `import`. */
  thumbnail?: string;
  [field: string]: unknown;
}

export interface ResponseHeader {
  status: number;
  QTime: number;
  token?: string;
  warnings?: string[];
  /** Of ranked searches: whether the page is what comparing every match would give. */
  ranking?: 'exact' | 'approximate';
  /** Of ranked searches: how many descriptors were compared, about. */
  distances?: number;
  [key: string]: Plain | undefined;
}

/** A stored document. On ranked searches with its `score`, 0 to 1. */
export type FoundDocument = { id: string; score?: number; collapsed?: number } & { [field: string]: Plain };

export interface SearchAnswer {
  responseHeader: ResponseHeader;
  response: {
    numFound: number;
    start: number;
    maxScore?: number;
    numFoundExact: boolean;
    docs: FoundDocument[];
  };
  nextCursorMark?: string;
  /** With `facet: true`. */
  facet_counts?: FacetCounts;
}

/** Counts of what matches, by the keys that the facets have. */
export interface FacetCounts {
  facet_queries: { [key: string]: number };
  /** Values and counts in turn, unless `json.nl` says otherwise; the count of documents without a value after null. */
  facet_fields: { [key: string]: (string | number | null)[] };
  facet_ranges: {
    [key: string]: {
      counts: (string | number)[];
      gap: Plain;
      start: Plain;
      end: Plain;
      before?: number;
      after?: number;
      between?: number;
    };
  };
}

/** Parameters of a search by their names on the wire; an array repeats the parameter. */
export interface SearchParameters {
  q?: string;
  fq?: string | readonly string[];
  fl?: string;
  sort?: string;
  start?: number;
  rows?: number;
  cursorMark?: string;
  facet?: boolean;
  'facet.field'?: string | readonly string[];
  'facet.query'?: string | readonly string[];
  'facet.range'?: string | readonly string[];
  'rank.by.id'?: string | readonly string[];
  'rank.by.url'?: string | readonly string[];
  /** Base64 of the picture; sent in a form body. */
  'rank.by.data'?: string;
  'rank.by.hex'?: string | readonly string[];
  /** Words that say what pictures should show. */
  'rank.by.text'?: string | readonly string[];
  'rank.by.outputs'?: string | readonly string[];
  'rank.mode'?: string;
  'rank.threshold'?: number;
  /** `duplicates`: one document of each group of near-duplicates. */
  collapse?: 'duplicates';
  after?: string;
  [parameter: string]: string | number | boolean | readonly string[] | undefined;
}

export interface UpdateParameters {
  commit?: boolean;
  async?: boolean;
  waitSearcher?: boolean;
  'modules.apply'?: string;
  waitAnalysis?: boolean;
  commitWithin?: number;
  /** False: documents of files that are deleted are not remembered as deleted on purpose. */
  tombstones?: boolean;
}

/** Which documents to export. */
export interface ExportParameters {
  q?: string;
  fq?: string | readonly string[];
  /** Most documents of a page. */
  rows?: number;
}

/** A file whose document was deleted on purpose. */
export interface Tombstone {
  id: string;
  /** The folder: the id is the path of the file below it. */
  source: string;
  /** When the file was changed last. */
  modified: string;
  bytes: number;
}

/** How far the reindex of a collection is, or how the last one ended. */
export interface Reindex {
  state: 'copying' | 'analyzing' | 'switching' | 'paused' | 'done' | 'failed';
  /** Whether somebody is at it. */
  alive: boolean;
  documents: number;
  copied: number;
  analyzed: number;
  /** Those analyzed again of which only the thumbnail was there. */
  thumbnails: number;
  /** Copies that wait for their analysis or for a commit. */
  pending: number;
  /** The name of the model that the collection gets. */
  model?: string;
  message?: string;
  missing: { id: string; code: string; msg: string }[];
}

/** One accepted change. */
export interface Operation {
  /** `<collection>-<seq>` */
  operation: string;
  kind: 'add' | 'delete' | 'delete-by-query';
  id?: string;
  state: OperationState;
  /** Of the document or delete within its request, from 0. */
  position: number;
  attempt: number;
  acceptedAt: string;
  /** Why it failed. */
  reason?: { code: string; msg: string };
}

export type OperationState = 'queued' | 'analyzing' | 'ready' | 'visible' | 'failed' | 'superseded';

export interface OperationsParameters {
  state?: OperationState;
  limit?: number;
  /** The `nextCursor` of the page before. */
  cursor?: string;
}

export interface OperationsAnswer {
  responseHeader: ResponseHeader;
  operations: Operation[];
  nextCursor?: string;
}

export interface RetryAnswer {
  responseHeader: ResponseHeader;
  /** Changes that are on their way again. */
  retried: number;
  /** Changes that are not, since a later one has changed the same document. */
  superseded: number;
}

export interface UpdateAnswer {
  responseHeader: ResponseHeader;
  operations?: { first: string; last: string; count: number };
}

export interface AnalyzeAnswer {
  responseHeader: ResponseHeader;
  /** JSON text: the value for `import`. */
  outputs: string;
}

/** Parameters of `/groups` by their names on the wire. */
export interface GroupsParameters {
  /** Only members that match all; groups with fewer than two of them are left out. */
  fq?: string | readonly string[];
  fl?: string;
  /** Groups of the page, at most 100; 20 when not given. */
  rows?: number;
  /** Members of each group that are listed, at most 100; 20 when not given. */
  'group.limit'?: number;
  /** Members of each group that are passed over. */
  'group.offset'?: number;
  /** Only the group with this id. */
  'group.id'?: string;
  /** The `nextCursor` of the page before. */
  cursor?: string;
  after?: string;
}

export interface GroupsAnswer {
  responseHeader: ResponseHeader;
  /** The last commit of the collection. */
  commit: number;
  /** The commit up to which the groups are right. */
  asOfCommit: number;
  /** Least score of a member with its representative. */
  threshold: number;
  numFound: number;
  /** False while the groups are older than the last commit. */
  numFoundExact: boolean;
  groups: FoundGroup[];
  nextCursor?: string;
}

/** Pictures each of which is nearly the same as the representative. */
export interface FoundGroup {
  id: string;
  representative: string;
  /** All members, also those beyond the ones listed. */
  size: number;
  /** The representative first, then by falling score with it. */
  members: FoundDocument[];
  pairs: { ids: [string, string]; score: number }[];
}

/** Parameters of `/tag` by their names on the wire. One input is needed. */
export interface TagParameters {
  'tagging.input.id'?: string;
  'tagging.input.url'?: string;
  'tagging.input.data'?: string;
  'tagging.input.preprocessed'?: string;
  /** The field whose values are voted for; `labels` when not given. */
  'tagging.field'?: string;
  'tagging.max'?: number;
  'tagging.threshold'?: number;
  /** Only documents that match vote. */
  fq?: string | readonly string[];
  after?: string;
}

export interface TagAnswer {
  responseHeader: ResponseHeader;
  tags: PredictedTag[];
  /** How many documents voted. */
  voters: number;
}

export interface PredictedTag {
  tag: string;
  /** 0 to 1. */
  confidence: number;
  /** The documents that have it, most alike first. */
  voters: { id: string; score: number }[];
}

export type RunState = 'running' | 'paused' | 'done' | 'failed' | 'stopped';

/** A file that a run over a folder could not index. */
export interface RunFailure {
  path: string;
  /** An error code of akin, or `unreadable`. */
  code: string;
  msg: string;
}

/** What the program that indexes a folder says about its run. */
export interface RunReport {
  source: string;
  state: RunState;
  /** Files found so far. */
  total: number;
  done: number;
  unchanged: number;
  failed: number;
  secondsLeft?: number | null;
  /** All so far, at most 1,000; without any, those reported before stay. */
  failures?: readonly RunFailure[];
}

/** A run over a folder. */
export interface Run extends RunReport {
  id: string;
  secondsLeft: number | null;
  failures: RunFailure[];
  /** Failures that are not listed. */
  failuresMore: number;
  startedAt: string;
}

export interface CollectionSummary {
  name: string;
  documents: number;
  commit: number;
  committedAt: string | null;
  pending: number;
  failed: number;
  /** How many failed for which reason. */
  failures: { [reason: string]: number };
  /** Number of shards. */
  shards: number;
  /** The content model; `words`: whether `rank.by.text` works; `vector`: what of its output describes a picture. */
  model?: { name: string; hash: string; words: boolean; vector?: string };
  /** What this client may do. Only in the status of one collection that was asked for. */
  scope?: Scope;
}

/** Parameters of `/terms` by their names on the wire. */
export interface TermsParameters {
  'terms.fl': string | readonly string[];
  /** Most values of each field; 10 when not given, all when negative. */
  'terms.limit'?: number;
  'terms.prefix'?: string;
  'terms.sort'?: 'count' | 'index';
  after?: string;
}

export interface TermsAnswer {
  responseHeader: ResponseHeader;
  /** Value, count, value, count … of each field. */
  terms: { [field: string]: (string | number)[] };
}

/** A process of a fleet, as its PostgreSQL knows it. */
export interface FleetProcess {
  role: string;
  version: string;
  host: string;
  pid: number;
  address: string | null;
  connections: number;
  /** Time at which the oldest of its connections was opened. */
  connectedAt: string;
}
