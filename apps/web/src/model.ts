import { AkinRequestError, type Client, type Collection, type CollectionSummary } from '@akin/client';
import { NO_CHANGES } from './changes/state.ts';
import { type FacetField, joinFilters } from './facets.ts';
import type { NamedRange } from './filters/ranges.ts';
import { loadLayout } from './grid/layout.ts';
import { askForKey } from './key.ts';
import { EMPTY_MANAGE_STATE } from './manage/state.ts';
import { messageOf } from './messages.ts';
import type { PageData } from './page-data.ts';
import { NO_REVIEW } from './review/state.ts';
import { NO_RUNS } from './runs/runs.ts';
import { savedSearches } from './saved.ts';
import type { ViewState } from './view-state.ts';

const NOTHING: PageData = {
  documents: [],
  textMatches: null,
  numFound: null,
  waysOn: [],
  loading: true,
  error: null,
  away: false,
  fresh: 0,
  status: null,
  scope: null,
  runs: NO_RUNS,
  collections: [],
  opened: null,
  counting: true,
  facets: [],
  ranges: [],
  histograms: new Map(),
  periods: [],
  facetSearches: new Map(),
  filtersVisible: false,
  menuVisible: false,
  preview: null,
  analyzing: false,
  tags: null,
  openedTags: null,
  openedParts: [],
  review: NO_REVIEW,
  changes: NO_CHANGES,
  request: null,
  sideBySide: null,
  layout: loadLayout(),
  cardFields: [],
  cardFieldChoices: [],
  current: null,
  cursor: null,
  managed: EMPTY_MANAGE_STATE,
  figures: null,
  saved: savedSearches(),
  selected: new Set(),
  undoable: null,
};

/** The state of the page, and the tasks that load it. */
export class Model {
  pageData: PageData = NOTHING;
  /** Fields of the current collection; empty until its schema is loaded. */
  fields: readonly FacetField[] = [];
  /** Fields with sliders; null if their bounds are already loaded. */
  rangeFields: readonly NamedRange[] | null = null;
  /** The names of all of these fields; empty until the schema is loaded. */
  fieldNames = '';
  /** Those that the filters were last counted with; null: not yet in this collection. */
  countedFields: string | null = null;
  /** The commit that the fields are of; null: that of the next status. */
  fieldsCommit: number | null = null;
  /** The collection when the results were requested; null until that is known. */
  shownStatus: CollectionSummary | null = null;
  /** The last commit that was known when the results were requested, which may be of a later one. Null: none. */
  shownCommit: number | null = null;
  /** Whether the counts of the filters and the labels are those of the shown results. */
  isComplete = false;
  /** The start of a search that akin did not answer; null if it answered the last one. */
  failedStart: number | null = null;
  /** Whether the shown error is one of the last search, and not of something else that the user did. */
  hasSearchError = false;
  /** The state in the URL. */
  state: ViewState;
  readonly akin: Client;
  readonly #draw: () => void;
  /** Loads the view, a further page of its results, or other values of its filters. */
  readonly #running = new Map<'view' | 'page' | 'values', AbortController>();

  constructor(akin: Client, state: ViewState, draw: () => void) {
    this.akin = akin;
    this.state = state;
    this.#draw = draw;
  }

  get collection(): Collection {
    return this.akin.collection(this.state.collection);
  }

  update(change: Partial<PageData>): void {
    this.pageData = { ...this.pageData, ...change };
    this.#draw();
  }

  filters(): string[] {
    return joinFilters(this.state.filters, this.fields);
  }

  /**
   * Aborts the current task and starts another one. One that loads a part of the view aborts only the one before for
   * the same part.
   *
   * @returns a controller whose signal aborts when the next task starts
   */
  start(task: 'view' | 'page' | 'values' = 'view'): AbortController {
    if (task === 'view') this.stop();
    else this.#running.get(task)?.abort();
    const mine = new AbortController();
    this.#running.set(task, mine);
    return mine;
  }

  stop(): void {
    for (const one of this.#running.values()) one.abort();
    this.failedStart = null;
  }

  /** Asks for a key if one is missing. */
  messageFor(error: unknown): string {
    if (error instanceof AkinRequestError && error.status === 401) askForKey();
    return messageOf(error);
  }

  /** Asks for a key if one is missing. */
  showError(error: unknown): void {
    this.update({ error: this.messageFor(error) });
  }

  forgetPreview(): void {
    if (this.pageData.preview) URL.revokeObjectURL(this.pageData.preview);
    this.pageData = { ...this.pageData, preview: null };
  }
}
