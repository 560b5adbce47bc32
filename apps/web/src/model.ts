import { AkinRequestError, type Client, type Collection } from '@akin/client';
import { NO_CHANGES } from './changes.ts';
import { type FacetField, joinFilters } from './facets.ts';
import type { NamedRange } from './filters/ranges.ts';
import { keptLayout } from './grid/layout.ts';
import { askForKey } from './key.ts';
import { NOTHING_MANAGED } from './manage/state.ts';
import { messageOf } from './messages.ts';
import { NO_REVIEW } from './review/state.ts';
import { NO_RUNS } from './runs/runs.ts';
import { savedSearches } from './saved.ts';
import type { Shown } from './shown.ts';
import type { ViewState } from './view-state.ts';

const NOTHING: Shown = {
  documents: [],
  inText: null,
  numFound: null,
  loading: true,
  error: null,
  status: null,
  scope: null,
  runs: NO_RUNS,
  collections: [],
  opened: null,
  facets: [],
  ranges: [],
  histograms: new Map(),
  wanted: new Map(),
  narrowing: false,
  preview: null,
  analyzing: false,
  tags: null,
  openedTags: null,
  review: NO_REVIEW,
  changes: NO_CHANGES,
  layout: keptLayout(),
  current: null,
  cursor: null,
  managed: NOTHING_MANAGED,
  figures: null,
  saved: savedSearches(),
  selected: new Set(),
  undoable: null,
};

/** What the page shows, and the one piece of work that fills it. */
export class Model {
  shown: Shown = NOTHING;
  /** Of the collection that is shown; empty until its schema is there. */
  fields: readonly FacetField[] = [];
  /** Those with sliders; null where their bounds are known already. */
  rangeFields: readonly NamedRange[] | null = null;
  /** What the address says. */
  state: ViewState;
  readonly akin: Client;
  readonly #draw: () => void;
  #running: AbortController | null = null;

  /** @param draw Called after each change. */
  constructor(akin: Client, state: ViewState, draw: () => void) {
    this.akin = akin;
    this.state = state;
    this.#draw = draw;
  }

  /** The collection that is shown. */
  get collection(): Collection {
    return this.akin.collection(this.state.collection);
  }

  /** Changes what is shown, and draws it. */
  update(change: Partial<Shown>): void {
    this.shown = { ...this.shown, ...change };
    this.#draw();
  }

  /** The filters as akin takes them: one for each field. */
  filters(): string[] {
    return joinFilters(this.state.filters, this.fields);
  }

  /** Ends what was under way and begins something else. @returns how to learn that this was ended in turn */
  start(): AbortController {
    this.stop();
    this.#running = new AbortController();
    return this.#running;
  }

  /** Ends what is under way. */
  stop(): void {
    this.#running?.abort();
  }

  /** The message for the page; if a key is missing, it asks for one. */
  told(error: unknown): string {
    if (error instanceof AkinRequestError && error.status === 401) askForKey(error.message);
    return messageOf(error);
  }

  /** Forgets the picture that was uploaded. Draws nothing. */
  forgetPreview(): void {
    if (this.shown.preview) URL.revokeObjectURL(this.shown.preview);
    this.shown = { ...this.shown, preview: null };
  }
}
