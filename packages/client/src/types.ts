import type { Plain } from './json.ts';
import type { Scope } from './keys.ts';

/** A document to store. Only `id` is required; any other name with a plain value becomes a field. */
export interface NewDocument {
  id: string;
  /** URL of the picture, http(s). */
  image?: string;
  labels?: readonly string[];
  /** `lat,lon` */
  location?: string;
  /** The `outputs` of an earlier analysis: akin then does not download the picture. */
  import?: string;
  /** Base64 of a small picture to display, used with `import`. */
  thumbnail?: string;
  [field: string]: unknown;
}

export interface ResponseHeader {
  status: number;
  QTime: number;
  token?: string;
  warnings?: string[];
  /** For updates with `maxErrors`: the documents and deletes that are left out, by their position in the request. */
  errors?: { type: 'ADD' | 'DELID' | 'DELQ'; id: string; position: number; message: string }[];
  /** For ranked searches: whether the page equals the result of comparing all matches. */
  ranking?: 'exact' | 'approximate';
  /** For ranked searches: about how many descriptors were compared. */
  distances?: number;
  [key: string]: Plain | undefined;
}

/**
 * A stored document. In ranked searches with `score`, 0 to 1. `collapsed`: how many other matches of its group are left
 * out.
 */
export type FoundDocument = { id: string; score?: number; collapsed?: number } & { [field: string]: Plain };

export interface DocumentList {
  numFound: number;
  start: number;
  maxScore?: number;
  numFoundExact: boolean;
  docs: FoundDocument[];
}

/** Groups of documents with the same value of a field. */
export interface Grouped {
  /** Number of documents that match. */
  matches: number;
  /** Number of groups, with `group.ngroups`. */
  ngroups?: number;
  groups?: { groupValue: Plain; doclist: DocumentList }[];
  /** With `group.format: 'simple'`, in place of the groups. */
  doclist?: DocumentList;
}

export interface SearchResponse {
  responseHeader: ResponseHeader;
  response: DocumentList;
  nextCursorMark?: string;
  /** Present with `group: true`, by the field; `response` is missing then. */
  grouped?: { [field: string]: Grouped };
  /** Present with `expand: true`: other documents of each value on the page. */
  expanded?: { [value: string]: DocumentList };
  /** Present with `facet: true`. */
  facet_counts?: FacetCounts;
  /** Present with `stats: true`. */
  stats?: { stats_fields: { [key: string]: Stats } };
}

/** Counts of matching documents, by the keys of the facets. */
export interface FacetCounts {
  facet_queries: { [key: string]: number };
  /**
   * Values and counts alternate, unless `json.nl` says otherwise. The count of documents without a value follows null.
   */
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

/** Figures of a field over all matches. Null: there is no such figure, because there are no values. */
export interface Stats {
  min?: Plain;
  max?: Plain;
  /** Number of values. */
  count?: number;
  /** Number of documents without a value. */
  missing?: number;
  /** Of fields of numbers. A text if it is an integer that a JavaScript number cannot represent. */
  sum?: number | string | null;
  mean?: number | null;
  stddev?: number | null;
}

/** Parameters of a search in the HTTP interface; an array repeats the parameter. */
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
  expand?: boolean;
  'expand.rows'?: number;
  'expand.sort'?: string;
  group?: boolean;
  'group.field'?: string;
  'group.limit'?: number;
  stats?: boolean;
  'stats.field'?: string | readonly string[];
  'rank.by.id'?: string | readonly string[];
  'rank.by.url'?: string | readonly string[];
  /** Base64 of the picture; sent in a form body. */
  'rank.by.data'?: string;
  'rank.by.hex'?: string | readonly string[];
  /** Descriptions of pictures in words. */
  'rank.by.text'?: string | readonly string[];
  'rank.by.outputs'?: string | readonly string[];
  /** The part of each picture that counts, as `x,y,w,h` in fractions; an empty text: all of it. */
  'rank.region'?: string | readonly string[];
  'rank.mode'?: string;
  'rank.threshold'?: number;
  /** `duplicates`: return only one document of each group of near-duplicates. */
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
  /** Of a picture with its document: also set the fields that the file tells, such as date, camera and place. */
  fields?: boolean;
  /**
   * Leave out up to this many documents that cannot be taken, and accept the others; -1: any number. Default: none is
   * accepted if one cannot be taken.
   */
  maxErrors?: number;
  /** False: deleted documents that came from files leave no tombstone. */
  tombstones?: boolean;
}

/** Selects the documents to export. */
export interface ExportParameters {
  q?: string;
  fq?: string | readonly string[];
  /** Maximum documents of a page. */
  rows?: number;
}

/** A file whose document was deleted on purpose. */
export interface Tombstone {
  id: string;
  /** The folder. */
  source: string;
  /** The path of the file in the folder. */
  path: string;
  /** Last modification time of the file. */
  modified: string;
  bytes: number;
  /** The `file_hash` of the document. */
  hash?: number;
}

/** The progress of a reindex of a collection, or the result of the last one. */
export interface Reindex {
  state: 'copying' | 'analyzing' | 'switching' | 'paused' | 'done' | 'failed';
  /** Whether a process is working on it. */
  alive: boolean;
  beganAt: string;
  documents: number;
  copied: number;
  analyzed: number;
  /** Number of documents that were analyzed again from their thumbnails, because the pictures were not available. */
  thumbnails: number;
  /** Copies that wait for their analysis or for a commit. */
  pending: number;
  /** The name of the collection's new model. */
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
  /** Position of the document or delete in its request, from 0. */
  position: number;
  attempt: number;
  acceptedAt: string;
  /** Why the change failed. */
  reason?: { code: string; msg: string };
}

export type OperationState = 'queued' | 'analyzing' | 'ready' | 'visible' | 'failed' | 'superseded';

export interface OperationsParameters {
  state?: OperationState;
  limit?: number;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
}

export interface OperationsResponse {
  responseHeader: ResponseHeader;
  operations: Operation[];
  nextCursor?: string;
}

export interface RetryResponse {
  responseHeader: ResponseHeader;
  /** Number of changes that are processed again. */
  retried: number;
  /** Number of changes that are not, because a later change has replaced or deleted the same document. */
  superseded: number;
  /** Number of changes that stay failed, because a later atomic update has already changed the document. */
  conflicting: number;
}

export interface UpdateResponse {
  responseHeader: ResponseHeader;
  operations?: { first: string; last: string; count: number };
}

export interface AnalyzeResponse {
  responseHeader: ResponseHeader;
  /** JSON text: the value for `import`. */
  outputs: string;
  /** Base64 of a WebP of at most 256 px, if it was asked for. */
  thumbnail?: string;
}

/** Parameters of `/groups` in the HTTP interface. */
export interface GroupsParameters {
  /** Only members that match all filters; groups with fewer than two such members are omitted. */
  fq?: string | readonly string[];
  fl?: string;
  /** Maximum groups of the page, up to 100. Default: 20. */
  rows?: number;
  /** Maximum members listed for each group, up to 100. Default: 20. */
  'group.limit'?: number;
  /** Number of members of each group to skip. */
  'group.offset'?: number;
  /** Only the group with this id. */
  'group.id'?: string;
  /** The `nextCursor` of the previous page. */
  cursor?: string;
  after?: string;
}

export interface PartPairsResponse extends Omit<GroupsResponse, 'groups'> {
  pairs: PartPair[];
}

/** Two pictures that have a part in common: more of `part` than of `whole`. */
export interface PartPair {
  part: FoundDocument;
  whole: FoundDocument;
  /** Whether at least 70 % of both pictures is in common. */
  copy: boolean;
  score: number;
  /** Where the common part is in both. */
  parts_box: {
    /** x, y, width and height in fractions. */
    whole: [number, number, number, number];
    part: [number, number, number, number];
    /** Degrees by which the part is turned in the whole, after it was mirrored. */
    turn: number;
    /** How large the part is in the whole. 1: as long as the whole. */
    scale: number;
    mirrored: boolean;
  };
}

export interface GroupsResponse {
  responseHeader: ResponseHeader;
  /** The last commit of the collection. */
  commit: number;
  /** The commit for which the groups are up to date. */
  asOfCommit: number;
  /** Minimum score of a member with its representative. */
  threshold: number;
  numFound: number;
  /** False while the groups are older than the last commit. */
  numFoundExact: boolean;
  groups: FoundGroup[];
  nextCursor?: string;
}

/** Pictures that are nearly the same as the representative. */
export interface FoundGroup {
  id: string;
  representative: string;
  /** Number of all members, including those that are not listed. */
  size: number;
  /** The representative first, then by descending score with it. */
  members: FoundDocument[];
  pairs: { ids: [string, string]; score: number }[];
}

/** Parameters of `/tag` in the HTTP interface. At least one input is required. */
export interface TagParameters {
  'tagging.input.id'?: string;
  'tagging.input.url'?: string;
  'tagging.input.data'?: string;
  'tagging.input.preprocessed'?: string;
  /** The part of the picture that counts, as `x,y,w,h` in fractions. */
  'tagging.input.region'?: string;
  /** The field whose values are suggested. Default: `labels`. */
  'tagging.field'?: string;
  'tagging.max'?: number;
  'tagging.threshold'?: number;
  /** Only documents that match these filters vote. */
  fq?: string | readonly string[];
  after?: string;
}

export interface TagResponse {
  responseHeader: ResponseHeader;
  tags: PredictedTag[];
  /** How many documents voted. */
  voters: number;
}

export interface PredictedTag {
  tag: string;
  /** 0 to 1. */
  confidence: number;
  /** The documents with this value, most similar first. */
  voters: { id: string; score: number }[];
}

export type RunState = 'running' | 'paused' | 'done' | 'failed' | 'stopped';

/** A file that an import run of a folder could not index. */
export interface RunFailure {
  path: string;
  /** An error code of akin, `unreadable`, or `absent`: it was named, and is not there. */
  code: string;
  msg: string;
}

/** The progress of an import run, reported by the program that indexes the folder. */
export interface RunReport {
  source: string;
  state: RunState;
  /** Files found so far. */
  total: number;
  done: number;
  unchanged: number;
  failed: number;
  secondsLeft?: number | null;
  /** All failures so far, at most 1,000. If omitted, the failures reported before stay. */
  failures?: readonly RunFailure[];
}

/** An import run of a folder. */
export interface Run extends RunReport {
  id: string;
  secondsLeft: number | null;
  failures: RunFailure[];
  /** Number of failures that are not listed. */
  failuresMore: number;
  startedAt: string;
}

/** The limits of a collection. */
export interface Quota {
  /** Documents that are accepted but not visible yet count too. */
  maxDocuments: number;
  /** Bytes of field values, outputs and thumbnails. */
  maxBytes: number;
}

export interface CollectionSummary {
  name: string;
  documents: number;
  commit: number;
  committedAt: string | null;
  pending: number;
  failed: number;
  /** For each reason: how many changes failed. */
  failures: { [reason: string]: number };
  /** Number of shards. */
  shards: number;
  /** The modules that analyze its pictures, if they are not the usual ones. */
  modules?: string[];
  /** Bytes of the field values, outputs and thumbnails of its documents. */
  bytes: number;
  /** Its quota; null: no limit. */
  maxDocuments: number | null;
  maxBytes: number | null;
  /** The content model; `words`: whether `rank.by.text` works; `vector`: which of its outputs describes a picture. */
  model?: { name: string; hash: string; words: boolean; vector?: string };
  /** What this client may do. Only present in the status of a single collection. */
  scope?: Scope;
}

/** A content model that akin knows by name, or that is on its machine. */
export interface ContentModel {
  /** Its word, or the name of its folder. */
  name: string;
  /** Null for a folder of somebody's own. */
  licence: string | null;
  /** Size of the download. */
  megabytes: number | null;
  /** Length of a descriptor. */
  numbers: number;
  /** Whether it finds pictures by words. */
  words: boolean;
  about: string;
  /** Whether akin can use it. */
  here: boolean;
  /** Whether new collections get it. */
  isDefault: boolean;
  /** A download in progress, or why the last one failed. */
  download?: { state: 'running' | 'failed'; bytes: number; msg?: string };
}

/** Parameters of `/terms` in the HTTP interface. */
export interface TermsParameters {
  'terms.fl': string | readonly string[];
  /** Maximum number of values of each field. Default: 10; negative: all. */
  'terms.limit'?: number;
  'terms.prefix'?: string;
  'terms.sort'?: 'count' | 'index';
  after?: string;
}

export interface TermsResponse {
  responseHeader: ResponseHeader;
  /** For each field: value, count, value, count … */
  terms: { [field: string]: (string | number)[] };
}

/** A process of a fleet, as seen by its PostgreSQL. */
export interface FleetProcess {
  role: string;
  version: string;
  host: string;
  pid: number;
  address: string | null;
  connections: number;
  /** When its oldest connection was opened. */
  connectedAt: string;
}
