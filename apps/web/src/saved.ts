import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { TEXTS } from './texts.ts';

const T = TEXTS.saved;
const STORAGE_KEY = 'akin-searches';
/** Maximum number of saved searches, so that the list stays usable. */
const MAX_SAVED = 50;

export interface SavedSearch {
  readonly name: string;
  /** The part of the page's URL after `?`. */
  readonly address: string;
}

/** An empty list if the text is invalid. */
export function readSaved(text: string | null): SavedSearch[] {
  try {
    const all: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(all)) return [];
    return all.filter((one) => typeof one?.name === 'string' && typeof one.address === 'string').slice(0, MAX_SAVED);
  } catch {
    return [];
  }
}

export function savedSearches(): SavedSearch[] {
  return readSaved(localStorage.getItem(STORAGE_KEY));
}

/** Replaces one with the same name. @returns all saved searches */
export function saveSearch(search: SavedSearch): SavedSearch[] {
  return store([search, ...savedSearches().filter(({ name }) => name !== search.name)]);
}

export function forgetSearch(name: string): SavedSearch[] {
  return store(savedSearches().filter((one) => one.name !== name));
}

function store(all: SavedSearch[]): SavedSearch[] {
  const some = all.slice(0, MAX_SAVED);
  localStorage.setItem(STORAGE_KEY, JSON.stringify(some));
  return some;
}

export function savedMenu(
  saved: readonly SavedSearch[],
  isAsked: boolean,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (saved.length === 0 && !isAsked) return nothing;
  return html`<details class="saved menu">
    <summary class="quiet">${T.title}</summary>
    <div>
      ${saved.map(
        ({ name, address }) => html`<p>
          <a href=${address}>${name}</a>
          <button class="quiet" aria-label=${T.forget(name)} title=${T.forget(name)} @click=${() => actions.forgetSearch(name)}>×</button>
        </p>`,
      )}
      ${isAsked ? html`<button @click=${actions.saveSearch}>${T.save}</button>` : nothing}
    </div>
  </details>`;
}
