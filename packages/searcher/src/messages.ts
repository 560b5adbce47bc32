import type { AssignedCell } from './cells.ts';
import type { DocNumbers, DocSet } from './doc-set.ts';
import type { NearPairs, PairsQuery } from './pairs.ts';
import type { PartMatch } from './points/verify.ts';
import type {
  CountQuery,
  HeadsQuery,
  PartCandidates,
  PartHeads,
  PartQuery,
  PointCandidate,
  PointQuery,
  VectorQuery,
} from './query.ts';
import type { DocList } from './wire.ts';

/*
 * Messages to a thread of the searcher. Documents have the format in which the database sends them (see wire.ts), in
 * memory that all threads share. Each thread keeps only its share of the documents.
 */

/** Documents with one value of a column, which is identified by its ordinal. */
export interface ValueList extends DocList {
  readonly ordinal: number;
}

/** What changes a collection. */
export type CollectionChange =
  /** Begins a collection. Other messages about a collection that was not begun fail. */
  | { readonly kind: 'begin' }
  /** New and ended rows, with their vectors or points of some modules. */
  | {
      readonly kind: 'rows';
      readonly modules: readonly string[];
      /** Which of the modules have points. */
      readonly withPoints?: readonly string[];
      readonly bytes: Uint8Array;
    }
  /** Documents that match a filter. They are added if the filter already has some. */
  | { readonly kind: 'filter'; readonly filter: number; readonly docs: DocNumbers | DocSet }
  | { readonly kind: 'drop-filter'; readonly filter: number }
  /** Values of documents in a column. */
  | {
      readonly kind: 'values';
      readonly column: number;
      readonly bytes: Uint8Array;
      readonly lists: readonly ValueList[];
    }
  | { readonly kind: 'drop-values'; readonly column: number }
  /** Selects the rows that match a filter by their values of a column: 1 or 0 for each ordinal. */
  | {
      readonly kind: 'filter-by-values';
      readonly filter: number;
      readonly column: number;
      readonly wanted: Uint8Array;
    }
  | { readonly kind: 'advance'; readonly commit: number }
  | { readonly kind: 'drop' };

export type Request =
  | CollectionChange
  /** Assigns documents with vectors of a module to cells. @see Cells */
  | { readonly kind: 'cells'; readonly module: string; readonly isFirst: boolean; readonly bytes: Uint8Array }
  | { readonly kind: 'pairs'; readonly query: PairsQuery }
  | { readonly kind: 'search'; readonly query: VectorQuery }
  | { readonly kind: 'heads'; readonly query: HeadsQuery }
  | { readonly kind: 'points'; readonly query: PointQuery }
  /** Each thread checks its share of the candidates. */
  | { readonly kind: 'parts'; readonly query: PartQuery }
  | { readonly kind: 'count'; readonly query: CountQuery };

export interface RequestMessage {
  readonly number: number;
  /** Of the collection. */
  readonly key: number;
  readonly request: Request;
}

export interface ReplyMessage {
  readonly number: number;
  /** Bytes of memory of the collection. */
  readonly bytes: number;
  /** Undefined if the commit is too old to be searched; the same applies to the counts. */
  readonly candidates?: PartCandidates | undefined;
  readonly counts?: readonly number[] | undefined;
  readonly heads?: PartHeads | undefined;
  readonly pairs?: NearPairs | undefined;
  readonly points?: readonly PointCandidate[] | undefined;
  /** By number of the candidate. */
  readonly parts?: readonly (readonly [candidate: number, match: PartMatch])[];
  /** The documents that are not in this collection, and their cells. */
  readonly missing?: readonly AssignedCell[];
  readonly failure?: string;
}

export interface ThreadConfig {
  readonly index: number;
  readonly count: number;
  readonly exactRows: number;
}
