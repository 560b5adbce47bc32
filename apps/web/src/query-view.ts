import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { colorName } from './colors.ts';
import { palette, titleOf } from './elements.ts';
import { colorEditor, readColors } from './filters/color-query.ts';
import { keyedSource } from './key.ts';
import { MODE_NAMES } from './modes.ts';
import type { PageData } from './page-data.ts';
import { cutOutStyle, type Region, readRegion } from './region/region.ts';
import { predictedTags } from './tags.ts';
import { TEXTS } from './texts.ts';
import { fileOfQuery } from './upload.ts';
import type { Query, ViewState } from './view-state.ts';
import { searchInSwitch } from './words.ts';

const T = TEXTS.question;

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
      ${query.by === 'text' ? searchInSwitch(state, pageData, actions) : modeSwitch(state, query, pageData.sideBySide !== null, actions)}
      ${query.by === 'hex' ? colorEditor(query.hex, actions) : nothing} ${additionalInputs(state, actions, collection)} ${searchAsWordButton(query, actions)} ${predictedTags(pageData.tags, state.filters, actions)}
    </div>
    <button class="quiet clear" @click=${() => actions.searchBy(null)}>${T.clear}</button>
  </section>`;
}

/** A choice of the mode; a search by colour has none. */
function modeSwitch(
  state: ViewState,
  query: Query,
  isCompared: boolean,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (query.by === 'hex') return nothing;
  const other = MODE_NAMES.find(([mode]) => mode !== state.mode)?.[0] ?? state.mode;
  return html`<div class="modes" role="group" aria-label=${T.by}>
    ${MODE_NAMES.map(
      ([mode, name, about]) =>
        html`<button title=${about} aria-pressed=${state.mode === mode} @click=${() => actions.setMode(mode)}>${name}</button>`,
    )}
    ${query.by === 'id' || fileOfQuery(query) ? html`<button class="quiet" title=${T.partTitle} @click=${() => actions.searchPart()}>${T.part}</button>` : nothing}
    <button class="quiet" title=${T.sideBySideTitle} aria-expanded=${isCompared} @click=${() => actions.compareWith(isCompared ? null : { collection: state.collection, mode: other })}>${T.sideBySide}</button>
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
    const region = readRegion(query.region ?? null);
    const source = keyedSource(collection.thumbnailAddress(query.id));
    const image = region
      ? html`<span class="cut-out"><img src=${source} alt="" style=${cutOutStyle(region)} @load=${(event: Event) => shapeCutOut(event, region)} /></span>`
      : html`<img src=${source} alt="" />`;
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

/** The longer side of a part, in CSS pixels. */
const CUT_OUT_SIDE = 96;

function shapeCutOut({ target }: Event, { w, h }: Region): void {
  const { naturalWidth, naturalHeight, parentElement } = target as HTMLImageElement;
  const ratio = (w * naturalWidth) / (h * naturalHeight);
  if (!parentElement) return;
  parentElement.style.width = `${CUT_OUT_SIDE * Math.min(1, ratio)}px`;
  parentElement.style.height = `${CUT_OUT_SIDE * Math.min(1, 1 / ratio)}px`;
}

function queryText(query: Query, pageData: PageData): string {
  if (query.by === 'id') {
    const document = pageData.documents.find(({ id }) => id === query.id);
    return (query.region ? T.likePart : T.like)(document ? titleOf(document) : query.id);
  }
  if (query.by === 'url') return T.likeUrl(query.url);
  if (query.by === 'text') return TEXTS.words.shows(query.text);
  if (query.by === 'hex') return TEXTS.colors.asked(readColors(query.hex).map(({ hex }) => hex));
  return T.likeUpload;
}

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

function searchAsWordButton(query: Query, actions: Actions): TemplateResult | typeof nothing {
  const name = query.by === 'hex' ? colorName(query.hex) : undefined;
  if (name === undefined) return nothing;
  return html`<button class="quiet small-button" @click=${() => actions.searchByText(name)}>${TEXTS.results.wordInstead(name)}</button>`;
}

function hostOf(address: string): string {
  return URL.canParse(address) ? new URL(address).host : address;
}
