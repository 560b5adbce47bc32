import type { Plain } from './json.ts';

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
  [key: string]: Plain | undefined;
}

/** A stored document. On ranked searches with its `score`, 0 to 1. */
export type FoundDocument = { id: string; score?: number } & { [field: string]: Plain };

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
  /** Values and counts in turn, unless `json.nl` says otherwise; the count of documents without a value behind null. */
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
  'rank.by.id'?: string;
  'rank.by.url'?: string;
  /** Base64 of the picture; sent in a form body. */
  'rank.by.data'?: string;
  'rank.by.hex'?: string;
  'rank.by.outputs'?: string;
  'rank.mode'?: string;
  'rank.threshold'?: number;
  after?: string;
  [parameter: string]: string | number | boolean | readonly string[] | undefined;
}

export interface UpdateParameters {
  commit?: boolean;
  async?: boolean;
  'modules.apply'?: string;
  waitAnalysis?: boolean;
  commitWithin?: number;
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
