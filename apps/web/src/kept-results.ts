import type { Model } from './model.ts';
import type { PageData } from './page-data.ts';

/** What the page shows of a search. */
const PARTS = [
  ...(['documents', 'textMatches', 'numFound', 'cursor', 'tags', 'waysOn'] as const),
  ...(['counting', 'facets', 'facetSearches', 'histograms', 'periods'] as const),
] as const;

interface KeptResults extends Pick<PageData, (typeof PARTS)[number]> {
  readonly collection: string;
  readonly loaded: Pick<Model, 'shownStatus' | 'shownCommit' | 'isComplete'>;
  /** How far the page was scrolled, in CSS pixels. */
  readonly top: number;
}

const MAX_KEPT = 10;
/** Results by the entry of the browser's history, so that Back shows them at once: all pages, in the same place. */
const kept = new Map<number, KeptResults>();
let entry = Date.now();

/** The number of the entry of the history that is shown; a new one for a new entry. */
export function nextEntry(): { readonly entry: number } {
  entry += 1;
  return { entry };
}

export function keepResults({ pageData, state, failedStart, shownStatus, shownCommit, isComplete }: Model): void {
  if (pageData.loading || pageData.numFound === null || failedStart !== null || state.view !== 'search') return;
  const parts = Object.fromEntries(PARTS.map((part) => [part, pageData[part]])) as unknown as KeptResults;
  kept.delete(entry);
  const loaded = { shownStatus, shownCommit, isComplete };
  kept.set(entry, { ...parts, collection: state.collection, loaded, top: scrollY });
  for (const one of [...kept.keys()].slice(0, -MAX_KEPT)) kept.delete(one);
}

export function forgetResults(): void {
  kept.clear();
}

/** Called when another entry of the history is shown. @param state what the history stores for it */
export function enterEntry(state: { readonly entry?: number } | null): void {
  entry = state?.entry ?? entry;
}

/** @returns false if they are not kept */
export function restoreResults(model: Model, state: { readonly entry?: number } | null): boolean {
  enterEntry(state);
  const results = kept.get(entry);
  if (results === undefined || results.collection !== model.state.collection) return false;
  model.stop();
  const { collection: _, top, loaded, ...parts } = results;
  Object.assign(model, loaded);
  model.update({ ...parts, loading: false, error: null });
  // After the grid is measured, which gives the page its height.
  requestAnimationFrame(() => scrollTo({ top }));
  return true;
}

const STORAGE_KEY = 'akin-place';

/** Keeps the number of shown documents and the place for a reload. Browsers take no history entry at that moment. */
export function keepPlace({ state, pageData }: Model): void {
  const shown = state.view === 'search' ? pageData.documents.length : 0;
  sessionStorage.setItem(STORAGE_KEY, JSON.stringify({ entry, shown, top: scrollY }));
}

/** How many documents of this entry of the history were shown before a reload, and how far the page was scrolled. */
export function placeBeforeReload(): { readonly shown: number; readonly top: number } {
  const place = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}');
  return place.entry === entry ? place : { shown: 0, top: 0 };
}
