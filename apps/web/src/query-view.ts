import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { colorName } from './colors.ts';
import { palette, titleOf } from './elements.ts';
import { colorEditor, readColors } from './filters/color-query.ts';
import { keyedSource } from './key.ts';
import { MODE_NAMES } from './modes.ts';
import type { PageData } from './page-data.ts';
import { predictedTags } from './tags.ts';
import { TEXTS } from './texts.ts';
import type { Query, ViewState } from './view-state.ts';
import { searchInSwitch } from './words.ts';

const T = TEXTS.question;

/** The query of the results, and the mode of comparison. */
export function queryView(
  state: ViewState,
  query: Query,
  pageData: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  return html`<section class="question" aria-label=${T.region}>
    ${queryPicture(query, pageData, actions, collection)}
    <div>
      <p class="asked">${queryText(query, pageData)}</p>
      ${query.by === 'text' ? searchInSwitch(state, pageData, actions) : modeSwitch(state, query, actions)}
      ${query.by === 'hex' ? colorEditor(query.hex, actions) : nothing} ${additionalInputs(state, actions, collection)} ${searchAsWordButton(query, actions)} ${predictedTags(pageData.tags, state.filters, actions)}
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

function queryPicture(
  query: Query,
  pageData: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  if (query.by === 'text') return nothing;
  if (query.by === 'id') {
    const image = html`<img src=${keyedSource(collection.thumbnailAddress(query.id))} alt="" />`;
    const document = pageData.documents.find(({ id }) => id === query.id);
    if (document === undefined) return image;
    return html`<button class="asked-picture" title=${TEXTS.details.title} aria-label=${TEXTS.details.title} @click=${() => actions.open(document)}>${image}</button>`;
  }
  // akin downloads the picture; the user's browser does not.
  if (query.by === 'url') return html`<span class="placeholder">${T.elsewhere(hostOf(query.url))}</span>`;
  if (query.by === 'hex')
    return palette(
      readColors(query.hex).map(({ hex }) => hex),
      'big',
      readColors(query.hex).map(({ weight }) => weight),
    );
  return query.picture
    ? html`<img src=${`data:image/jpeg;base64,${query.picture}`} alt="" />`
    : html`<span class="placeholder">${T.uploaded}</span>`;
}

function queryText(query: Query, pageData: PageData): string {
  if (query.by === 'id') {
    const document = pageData.documents.find(({ id }) => id === query.id);
    return T.like(document ? titleOf(document) : query.id);
  }
  if (query.by === 'url') return T.likeUrl(query.url);
  if (query.by === 'text') return TEXTS.words.shows(query.text);
  if (query.by === 'hex') return TEXTS.colors.asked(readColors(query.hex).map(({ hex }) => hex));
  return T.likeUpload;
}

/** Further pictures as positive or negative examples. */
function additionalInputs(
  { examples }: ViewState,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  if (examples.length === 0) return nothing;
  return html`<p class="chips also">
    ${examples.map(
      ({
        id,
        sign,
      }) => html`<button class="chip" title=${TEXTS.also.remove} @click=${() => actions.setExample(id, null)}>
        ${sign === 'more' ? '+' : '−'} <img src=${keyedSource(collection.thumbnailAddress(id))} alt="" /> ${TEXTS.also[sign](id)} ×
      </button>`,
    )}
  </p>`;
}

/** Offers to search for the colour's name as a word. */
function searchAsWordButton(query: Query, actions: Actions): TemplateResult | typeof nothing {
  const name = query.by === 'hex' ? colorName(query.hex) : undefined;
  if (name === undefined) return nothing;
  return html`<button class="quiet small-button" @click=${() => actions.searchByText(name)}>${TEXTS.results.wordInstead(name)}</button>`;
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
