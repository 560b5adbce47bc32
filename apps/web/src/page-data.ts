import type { CollectionSummary, FoundDocument, Scope } from '@akin/client';
import type { LiveMetrics } from './changes/figures.ts';
import type { Changes } from './changes/state.ts';
import type { Facet } from './facets.ts';
import type { Period } from './filters/periods.ts';
import type { RangeField } from './filters/ranges.ts';
import type { Layout } from './grid/rows.ts';
import type { ManageState } from './manage/state.ts';
import type { ShownRequest } from './request/shown-request.ts';
import type { Review } from './review/state.ts';
import type { Runs } from './runs/runs.ts';
import type { SavedSearch } from './saved.ts';
import type { SideBySide } from './side-by-side/state.ts';
import type { PredictedTags } from './tags.ts';
import type { UndoOffer } from './undoable.ts';
import type { WayOn } from './ways-on.ts';

/** State that was loaded from akin; the rest is in the URL. */
export interface PageData {
  documents: readonly FoundDocument[];
  /**
   * How many of the first documents have the words in their text, and how many there are in total; null if only one
   * place was searched.
   */
  textMatches: { readonly shown: number; readonly found: number } | null;
  /** Null until the first response. */
  numFound: number | null;
  /** Other searches, if no document has the words. */
  waysOn: readonly WayOn[];
  loading: boolean;
  error: string | null;
  /** Whether akin does not answer: what the page shows is older. */
  away: boolean;
  /** The number of documents that are new since the results were loaded. */
  fresh: number;
  status: CollectionSummary | null;
  scope: Scope | null;
  runs: Runs;
  collections: readonly string[];
  opened: FoundDocument | null;
  /** Whether the filters of this collection are not yet counted: their place is kept free. */
  counting: boolean;
  facets: readonly Facet[];
  /** Fields of numbers and dates, and the number of results for each bar of their sliders. */
  ranges: readonly RangeField[];
  histograms: ReadonlyMap<string, readonly number[]>;
  /** Months or years of the results, if they are in the order of a date. */
  periods: readonly Period[];
  /** Fields for which the user wants more values, each with the text that they contain. */
  facetSearches: ReadonlyMap<string, string>;
  /** On a small screen. */
  filtersVisible: boolean;
  /** On a small screen. */
  menuVisible: boolean;
  /** Object URL of the uploaded picture. */
  preview: string | null;
  analyzing: boolean;
  /** Predicted labels for the query, and for the opened document. */
  tags: PredictedTags | null;
  openedTags: PredictedTags | null;
  openedParts: readonly FoundDocument[];
  review: Review;
  changes: Changes;
  /** The request of the results in one form, if the page shows it. */
  request: ShownRequest | null;
  sideBySide: SideBySide | null;
  layout: Layout;
  /** Fields that cards show, and those that users can choose. */
  cardFields: readonly string[];
  cardFieldChoices: readonly string[];
  current: string | null;
  /** Cursor of the next page of unranked results; null: pages are numbered. */
  cursor: string | null;
  managed: ManageState;
  /** Metrics of the process that answers; null: unknown. */
  figures: LiveMetrics | null;
  saved: readonly SavedSearch[];
  selected: ReadonlySet<string>;
  undoable: UndoOffer | null;
}
