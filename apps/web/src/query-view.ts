import type { Collection } from '@akin/client';
import { isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { colorName } from './colors.ts';
import { palette, titleOf } from './elements.ts';
import { colorEditor, readColors } from './filters/color-query.ts';
import { keyedSource } from './key.ts';
import { hasModes, MODE_NAMES } from './modes.ts';
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
      ${query.by === 'text' ? searchInSwitch(state, pageData, actions) : nothing} ${modeSwitch(state, query, pageData, actions)}
      ${query.by === 'hex' ? colorEditor(query.hex, actions) : nothing} ${additionalInputs(state, actions, collection)} ${searchAsWordButton(query, actions)} ${predictedTags(pageData.tags, state.filters, actions)}
    </div>
    <button class="quiet clear" @click=${() => actions.searchBy(null)}>${T.clear}</button>
  </section>`;
}

/** What compares pictures with the query: a choice of the mode, a part of its picture, and another way next to it. */
function modeSwitch(
  state: ViewState,
  query: Query,
  { sideBySide, collections }: PageData,
  actions: Actions,
): TemplateResult | typeof nothing {
  const modes = hasModes(query) ? MODE_NAMES : [];
  const hasPart = query.by === 'id' || query.by === 'url' || fileOfQuery(query) !== undefined;
  const otherCollection = collections.find((name) => name !== state.collection && !isTrash(name));
  const isWeighted = query.by === 'hex' ? query.hex.includes(',') : state.examples.length > 0;
  if (modes.length === 0 && !isWeighted && otherCollection === undefined) return nothing;
  const mode = modes.find(([mode]) => mode !== state.mode)?.[0] ?? state.mode;
  const collection = modes.length > 0 || isWeighted ? state.collection : (otherCollection ?? state.collection);
  const compare = () => actions.compareWith(sideBySide === null ? { mode, collection } : null);
  return html`<div class="modes" role="group" aria-label=${T.by}>
    ${modes.map(
      ([mode, name, about]) =>
        html`<button title=${about} aria-pressed=${state.mode === mode} @click=${() => actions.setMode(mode)}>${name}</button>`,
    )}
    ${hasPart ? html`<button class="quiet" title=${T.partTitle} @click=${() => actions.searchPart()}>${T.part}</button>` : nothing}
    <button class="quiet" title=${T.sideBySideTitle} aria-expanded=${sideBySide !== null} @click=${compare}>${T.sideBySide}</button>
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
  if (query.by === 'hex')
    return palette(
      readColors(query.hex).map(({ hex }) => hex),
      'big',
      readColors(query.hex).map(({ weight }) => weight),
    );
  if (query.picture) return html`<img src=${`data:image/jpeg;base64,${query.picture}`} alt="" />`;
  // akin downloads the picture; the user's browser does not.
  return html`<span class="placeholder">${query.by === 'url' ? T.elsewhere(hostOf(query.url)) : T.uploaded}</span>`;
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
  if (query.by === 'url') return (query.region ? T.likePartOfUrl : T.likeUrl)(query.url);
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
