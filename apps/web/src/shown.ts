import type { CollectionSummary, FoundDocument, Scope } from '@akin/client';
import type { Changes } from './changes.ts';
import type { Facet } from './facets.ts';
import type { Figures } from './figures/figures.ts';
import type { RangeField } from './filters/ranges.ts';
import type { Layout } from './grid/rows.ts';
import type { Managed } from './manage/state.ts';
import type { Review } from './review/state.ts';
import type { Runs } from './runs/runs.ts';
import type { SavedSearch } from './saved.ts';
import type { PredictedTags } from './tags.ts';
import type { ShownUndoable } from './undoable.ts';

/** What came from akin; the rest of the state is in the address. */
export interface Shown {
  documents: readonly FoundDocument[];
  /** How many of them, the first ones, have the words in their text, and how many there are; null where only one was asked. */
  inText: { readonly shown: number; readonly found: number } | null;
  /** Null while nothing came yet. */
  numFound: number | null;
  loading: boolean;
  error: string | null;
  status: CollectionSummary | null;
  /** What the key of this page allows. */
  scope: Scope | null;
  /** Runs over folders. */
  runs: Runs;
  /** Names of all collections, as far as the key may know them. */
  collections: readonly string[];
  opened: FoundDocument | null;
  /** What the results can be narrowed by. */
  facets: readonly Facet[];
  /** Numbers and dates of the collection, and how many results have values at each bar of their sliders. */
  ranges: readonly RangeField[];
  histograms: ReadonlyMap<string, readonly number[]>;
  /** Fields of which more values are wanted, each with the text that they contain. */
  wanted: ReadonlyMap<string, string>;
  /** Whether a small screen shows them. */
  narrowing: boolean;
  /** Address of the uploaded picture in this browser. */
  preview: string | null;
  /** The uploaded picture is being analyzed. */
  analyzing: boolean;
  /** Labels for what is searched for, and for the document that is opened. */
  tags: PredictedTags | null;
  openedTags: PredictedTags | null;
  /** Groups of near-duplicates, where the page shows them. */
  review: Review;
  /** Changes that are on their way or failed, where the page shows them. */
  changes: Changes;
  layout: Layout;
  /** The id of the result that the keyboard is at. */
  current: string | null;
  /** Where the next page of results begins, of those that are not ranked; null: by their number. */
  cursor: string | null;
  /** Collections and keys, where the page shows them. */
  managed: Managed;
  /** What the process that answers is doing; null: not known. */
  figures: Figures | null;
  /** Searches that are kept in this browser. */
  saved: readonly SavedSearch[];
  /** Ids of results that were selected. */
  selected: ReadonlySet<string>;
  /** What was done last and can be undone. */
  undoable: ShownUndoable | null;
}
