import type { Collection, CollectionSummary } from '@akin/client';
import { collectionOfTrash, isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Actions } from './actions.ts';
import { cardFieldsMenu } from './card-fields.ts';
import { details } from './details/details.ts';
import { examples } from './examples.ts';
import { filterText } from './facets.ts';
import { eachChoice } from './filters/one-of-each.ts';
import { orderChoice } from './filters/order.ts';
import { focusFirst } from './grid/focus.ts';
import { watchHeader } from './grid/header.ts';
import { layoutSwitch } from './grid/layout.ts';
import type { PageData } from './page-data.ts';
import { queryView } from './query-view.ts';
import { requestView } from './request/request-view.ts';
import { resultCountText, resultsView } from './results.ts';
import { runBars } from './runs/runs.ts';
import { savedMenu } from './saved.ts';
import { selectionBar } from './selection.ts';
import { SIDE_BY_SIDE } from './side-by-side/lazy.ts';
import { filtersToggle } from './sidebar.ts';
import { TEXTS } from './texts.ts';
import { undoNote } from './undo.ts';
import { type ViewState, writeState } from './view-state.ts';
import { VIEWS } from './views.ts';
import { searchInSwitch, wordsOf } from './words.ts';

const P = TEXTS.page;

export function page(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  curl: string,
  collectionOf: (name: string) => Collection,
): TemplateResult {
  const collection = collectionOf(state.collection);
  const skip = (event: Event) => {
    event.preventDefault();
    if (!focusFirst()) document.getElementById('results')?.focus();
  };
  return html`
    <a class="skip button" href="#results" @click=${skip}>${TEXTS.results.skip}</a>
    ${header(state, pageData, actions)} ${runBars(pageData.runs, actions)}
    <main id="results" class=${pageData.away ? 'away' : ''} tabindex="-1" aria-busy=${pageData.loading || pageData.analyzing}>
      <h1 class="unseen">${P.views[state.view]}</h1>
      ${pageData.analyzing ? analyzing(pageData) : nothing}
      ${pageData.away ? awayNote(actions) : nothing}
      ${pageData.error ? html`<p class="error" role="alert">${pageData.error}</p>` : nothing}
      ${content(state, pageData, actions, curl, collectionOf)}
    </main>
    ${details(pageData, actions, collection, state.query !== null)} ${VIEWS.groups.now?.compareDialog(pageData, actions, collection) ?? nothing}
    ${pageData.undoable ? undoNote(pageData.undoable, actions) : nothing}
    <div class="drop-note" aria-hidden="true">${pageData.status?.documents === 0 ? TEXTS.add.drop : TEXTS.add.searchInstead}</div>`;
}

function awayNote(actions: Actions): TemplateResult {
  return html`<p class="error" role="alert">${P.away} <button @click=${actions.askAgain}>${P.askAgain}</button></p>`;
}

function analyzing({ preview }: PageData): TemplateResult {
  return html`<section class="question" role="status">
    ${preview ? html`<img src=${preview} alt="" />` : nothing}
    <div>
      <p class="asked">${P.analyzing}</p>
      <progress aria-label=${P.analyzing}></progress>
    </div>
  </section>`;
}

function content(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  curl: string,
  collectionOf: (name: string) => Collection,
): TemplateResult | typeof nothing {
  const waiting = pageData.error === null ? html`<p class="note">${TEXTS.results.loading}</p>` : nothing;
  if (state.view === 'changes') return VIEWS.changes.now?.changesView(pageData, actions) ?? waiting;
  if (state.view === 'manage') return VIEWS.manage.now?.manageView(pageData, actions) ?? waiting;
  return state.view === 'groups'
    ? reviewView(state, pageData, actions, curl, collectionOf(state.collection))
    : results(state, pageData, actions, curl, collectionOf);
}

function results(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  curl: string,
  collectionOf: (name: string) => Collection,
): TemplateResult {
  const collection = collectionOf(state.collection);
  const choices = html`${filtersToggle(state, pageData, actions)}
    ${state.query ? nothing : searchInSwitch(state, pageData, actions)} ${eachChoice(state, pageData, actions)} ${orderChoice(state, pageData.ranges, actions)}
    ${layoutSwitch(pageData.layout, actions)}`;
  return html`${isTrash(state.collection) ? trashBar(state, pageData, actions) : nothing}${state.query && !pageData.analyzing ? queryView(state, state.query, pageData, actions, collection) : nothing}
    ${summary(state, pageData, resultCountText(state, pageData), actions, curl, choices)}
    ${requestView(pageData, actions)} ${comparison(state, pageData, actions, collectionOf)} ${examples(state, pageData, actions)} ${resultsView(state, pageData, actions, collection)} ${selectionBar(pageData, state.collection, actions)}`;
}

function comparison(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  collectionOf: (name: string) => Collection,
): TemplateResult | typeof nothing {
  const { sideBySide } = pageData;
  if (sideBySide === null) return nothing;
  return SIDE_BY_SIDE.now?.sideBySideView(state, pageData, sideBySide, actions, collectionOf) ?? nothing;
}

function trashBar({ collection }: ViewState, { numFound, scope }: PageData, actions: Actions): TemplateResult {
  const T = TEXTS.trash;
  const name = collectionOfTrash(collection);
  return html`<section class="line" aria-label=${T.of(name)}>
    <h2>${T.of(name)}</h2>
    <span class="about">${T.about}</span>
    <button class="quiet" @click=${() => actions.showCollection(name)}>${T.back(name)}</button>
    ${scope !== 'search' && numFound !== 0 ? html`<button @click=${actions.emptyTrash}>${T.empty}</button>` : nothing}
  </section>`;
}

function reviewView(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  const { numFound, numFoundExact } = pageData.review;
  const count = numFound === null ? P.looking : P.groups(numFound, numFoundExact);
  return html`${summary(state, pageData, count, actions, curl)} ${VIEWS.groups.now?.review(pageData.review, pageData.loading, actions, collection) ?? nothing}`;
}

function hasSearchCriteria({ query, words, filters, sort }: ViewState): boolean {
  return query !== null || words !== '' || filters.length > 0 || sort !== '';
}

function header(state: ViewState, pageData: PageData, actions: Actions): TemplateResult {
  const pick = (event: Event) => {
    const input = event.target as HTMLInputElement;
    if (input.files?.[0]) void actions.upload(input.files[0]);
    input.value = '';
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    actions.setWords(new FormData(event.target as HTMLFormElement).get('q') as string);
  };
  // For another tab: a click stays in this one.
  const emptySearch = { query: null, words: '', filters: [], sort: '', opened: null };
  const addressOf = (view: ViewState['view']) => writeState({ ...state, ...emptySearch, view });
  return html`<header ${ref(watchHeader)}>
    <a class="brand" href=${addressOf('search')} @click=${(event: Event) => {
      event.preventDefault();
      actions.searchBy(null, 'content');
    }}><img src="icon.svg" alt="" width="28" height="28" />akin</a>
    <form role="search" @submit=${submit}>
      <input type="search" name="q" aria-label=${TEXTS.box.label} placeholder=${TEXTS.box.placeholder} .value=${wordsOf(state)} />
    </form>
    <label class="button primary">
      <input type="file" accept="image/*" aria-label=${P.byPicture} @change=${pick} />
      <span class="long">${P.byPicture}</span><span class="short">${P.picture}</span>
    </label>
    <button class="menu-button" aria-label=${P.menu} aria-expanded=${pageData.menuVisible} @click=${() => actions.showMenu(!pageData.menuVisible)}>☰</button>
    <div class=${pageData.menuVisible ? 'tools shown' : 'tools'}>
    ${collectionChoice(state, pageData, actions)}
    <label class="button swatch" title=${P.byColor}>
      <input type="color" aria-label=${P.byColor} value="#ff8a5b"
        @change=${(event: Event) => actions.searchBy({ by: 'hex', hex: (event.target as HTMLInputElement).value }, 'color')} />
      ${P.color}
    </label>
    <a class="button views" href=${addressOf('groups')} aria-current=${state.view === 'groups' ? 'page' : nothing}
      title=${P.duplicatesTitle} @click=${(event: Event) => {
        event.preventDefault();
        actions.reviewGroups();
      }}>${P.views.groups}</a>
    <a class="status" href=${addressOf('changes')} aria-current=${state.view === 'changes' ? 'page' : nothing}
      title=${P.statusTitle} @click=${(event: Event) => {
        event.preventDefault();
        actions.showChanges();
      }}>${statusText(pageData.status)}</a>
    <a class="status" href=${addressOf('manage')} aria-current=${state.view === 'manage' ? 'page' : nothing} @click=${(
      event: Event,
    ) => {
      event.preventDefault();
      actions.showManage();
    }}>${P.views.manage}</a>
    <button class="quiet help-button" aria-label=${P.keyboard} title=${P.keyboardTitle} @click=${actions.showHelp}>?</button>
    </div>
  </header>`;
}

function collectionChoice(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const others = pageData.collections.filter((name) => !isTrash(name));
  const names = [...new Set([...others, state.collection])].sort();
  if (names.length < 2) return nothing;
  const choose = (event: Event) => actions.showCollection((event.target as HTMLSelectElement).value);
  return html`<select class="collections" aria-label=${P.collection} @change=${choose}>
    ${names.map((name) => html`<option value=${name} .selected=${name === state.collection}>${name}</option>`)}
  </select>`;
}

function statusText(status: CollectionSummary | null): string {
  return status === null ? '' : P.status(status);
}

/** @param choices controls for order and layout, if any */
function summary(
  state: ViewState,
  { fresh, menuVisible, saved, cardFields, cardFieldChoices, request }: PageData,
  count: string,
  actions: Actions,
  curl: string,
  choices: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  return html`<div class="summary">
    <span aria-live="polite">${count}</span>
    ${fresh > 0 ? html`<button class="chip fresh" title=${P.freshTitle} @click=${actions.showFresh}>${P.fresh(fresh)}</button>` : nothing}
    ${state.filters.map(
      (filter) =>
        html`<button class="chip" title=${P.removeFilter} @click=${() => actions.removeFilter(filter)}><span>${filterText(filter)}</span> ×</button>`,
    )}
    <span class="spacer"></span>
    ${choices}
    <div class=${menuVisible ? 'tools shown' : 'tools'}>
      ${state.view === 'search' ? html`${cardFieldsMenu(cardFields, cardFieldChoices, actions)} ${savedMenu(saved, hasSearchCriteria(state), actions)}` : nothing} ${copyButton(P.copyLink, () => location.href, actions)} ${copyButton(P.copyCurl, () => curl, actions)}
      ${state.view === 'search' ? html`<button class="quiet" aria-expanded=${request !== null} @click=${() => actions.showRequest(request ? null : 'curl')}>${TEXTS.request.open}</button>` : nothing}
    </div>
  </div>`;
}

function copyButton(name: string, text: () => string, actions: Actions): TemplateResult {
  const copy = async (event: Event) => {
    const button = event.currentTarget as HTMLButtonElement;
    await actions.copy(text());
    button.dataset.copied = 'yes';
    setTimeout(() => delete button.dataset.copied, 1500);
  };
  return html`<button class="quiet copy" @click=${copy}>${name}</button>`;
}
