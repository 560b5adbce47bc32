import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { colorName } from './colors.ts';
import { colorEditor, readColors } from './filters/color-query.ts';
import { keyedSource } from './key.ts';
import { MODE_NAMES } from './modes.ts';
import { palette, titleOf } from './parts.ts';
import type { Shown } from './shown.ts';
import { predictedTags } from './tags.ts';
import { TEXTS } from './texts.ts';
import type { Query, ViewState } from './view-state.ts';
import { whereSwitch } from './words.ts';

const T = TEXTS.question;

/** The query of the results, and the mode of comparison. */
export function question(
  state: ViewState,
  query: Query,
  shown: Shown,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  return html`<section class="question" aria-label=${T.region}>
    ${questionPicture(query, shown, collection)}
    <div>
      <p class="asked">${questionText(query, shown)}</p>
      ${query.by === 'text' ? whereSwitch(state, shown, actions) : modeSwitch(state, query, actions)}
      ${query.by === 'hex' ? colorEditor(query.hex, actions) : nothing} ${additionalInputs(state, actions, collection)} ${minScore(state, actions)} ${wordInstead(query, actions)} ${predictedTags(shown.tags, state.filters, actions)}
    </div>
    <button class="quiet clear" @click=${() => actions.searchBy(null)}>${T.clear}</button>
  </section>`;
}

/** A choice of the mode; a search by colour has none. */
function modeSwitch(state: ViewState, query: Query, actions: Actions): TemplateResult | typeof nothing {
  if (query.by === 'hex') return nothing;
  return html`<div class="modes" role="group" aria-label=${T.by}>
    ${MODE_NAMES.map(
      ([mode, name, about]) =>
        html`<button title=${about} aria-pressed=${state.mode === mode} @click=${() => actions.setMode(mode)}>${name}</button>`,
    )}
  </div>`;
}

function questionPicture(query: Query, shown: Shown, collection: Collection): TemplateResult | typeof nothing {
  if (query.by === 'text') return nothing;
  if (query.by === 'id') return html`<img src=${keyedSource(collection.thumbnailAddress(query.id))} alt="" />`;
  // akin downloads the picture; the user's browser does not.
  if (query.by === 'url') return html`<span class="placeholder">${T.elsewhere(hostOf(query.url))}</span>`;
  if (query.by === 'hex')
    return palette(
      readColors(query.hex).map(({ hex }) => hex),
      'big',
      readColors(query.hex).map(({ weight }) => weight),
    );
  return shown.preview
    ? html`<img src=${shown.preview} alt="" />`
    : html`<span class="placeholder">${T.uploaded}</span>`;
}

function questionText(query: Query, shown: Shown): string {
  if (query.by === 'id') {
    const document = shown.documents.find(({ id }) => id === query.id);
    return T.like(document ? titleOf(document) : query.id);
  }
  if (query.by === 'url') return T.likeUrl(query.url);
  if (query.by === 'text') return TEXTS.words.shows(query.text);
  if (query.by === 'hex') return TEXTS.colors.asked(readColors(query.hex).map(({ hex }) => hex));
  return T.likeUpload;
}

/** Further pictures as positive or negative examples. */
function additionalInputs(
  { also }: ViewState,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  if (also.length === 0) return nothing;
  return html`<p class="chips also">
    ${also.map(
      ({ id, sign }) => html`<button class="chip" title=${TEXTS.also.remove} @click=${() => actions.askAlso(id, null)}>
        ${sign === 'more' ? '+' : '−'} <img src=${keyedSource(collection.thumbnailAddress(id))} alt="" /> ${TEXTS.also[sign](id)} ×
      </button>`,
    )}
  </p>`;
}

/** A control for the minimum score. */
function minScore(state: ViewState, actions: Actions): TemplateResult {
  return html`<label class="least">${TEXTS.results.least}
    <input type="range" min="0" max="1" step="0.05" .value=${String(state.minScore)} aria-valuetext=${state.minScore.toFixed(2)}
      @change=${(event: Event) => actions.setThreshold(Number((event.target as HTMLInputElement).value))} />
    <output>${state.minScore.toFixed(2)}</output>
  </label>`;
}

/** Offers to search for the colour's name as a word. */
function wordInstead(query: Query, actions: Actions): TemplateResult | typeof nothing {
  const name = query.by === 'hex' ? colorName(query.hex) : undefined;
  if (name === undefined) return nothing;
  return html`<button class="quiet small-button" @click=${() => actions.askWords(name)}>${TEXTS.results.wordInstead(name)}</button>`;
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
