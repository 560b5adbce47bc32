import type { Collection, FoundDocument } from '@akin/client';
import { isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { commonParts } from '../common-parts/common-parts.ts';
import { isAnalyzed, paletteOf, strings, titleOf } from '../elements.ts';
import { filterOf, filterText } from '../facets.ts';
import { similarTo } from '../modes.ts';
import type { PageData } from '../page-data.ts';
import { predictedTags } from '../tags.ts';
import { TEXTS } from '../texts.ts';
import { facts } from './facts.ts';
import { hasOriginal, isZoomed, stage, toggleZoom, zoomOut } from './stage.ts';
import { swipeListeners } from './swipe.ts';

const T = TEXTS.details;
const DIALOG = 'details';

/** The details of one document, in a single modal dialog that {@link showModal} opens. */
export function details(
  pageData: PageData,
  actions: Actions,
  collection: Collection,
  isRanked: boolean,
): TemplateResult {
  const { opened } = pageData;
  const cancel = (event: Event) => {
    event.preventDefault();
    actions.open(null);
  };
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // In a zoomed picture, the arrow keys move the picture.
    if (event.key === 'ArrowRight' && !isZoomed()) step(1, actions);
    else if (event.key === 'ArrowLeft' && !isZoomed()) step(-1, actions);
    else if (event.key === 'z') toggleZoom();
    else return;
    event.preventDefault();
  };
  return html`<dialog id=${DIALOG} class="details" aria-label=${opened ? titleOf(opened) : T.title} @cancel=${cancel} @keydown=${press}>
    ${opened ? content(opened, pageData, actions, collection, isRanked) : nothing}
  </dialog>`;
}

/** Opens the dialog if it has content, otherwise closes it. The browser keeps the focus inside. */
export function showModal(): void {
  const dialog = document.getElementById(DIALOG) as HTMLDialogElement;
  const wanted = dialog.querySelector('h2') !== null;
  if (wanted && !dialog.open) dialog.showModal();
  if (!wanted && dialog.open) dialog.close();
}

function step(by: 1 | -1, actions: Actions): void {
  zoomOut();
  void actions.step(by);
}

function exampleButtons({ id }: FoundDocument, actions: Actions): TemplateResult {
  return html`<div class="modes" role="group" aria-label=${TEXTS.also.group}>
    <button @click=${() => actions.setExample(id, 'more')}>${TEXTS.also.askMore}</button>
    <button @click=${() => actions.setExample(id, 'less')}>${TEXTS.also.askLess}</button>
  </div>`;
}

function ownActions(
  document: FoundDocument,
  pageData: PageData,
  actions: Actions,
  { mayChange, inTrash }: { readonly mayChange: boolean; readonly inTrash: boolean },
): TemplateResult {
  const isSelected = pageData.selected.has(document.id);
  const mayEdit = mayChange && !inTrash;
  return html`<div class="modes" role="group" aria-label=${T.actions}>
    ${
      mayEdit
        ? html`<button title=${T.addLabelTitle} @click=${() => actions.addLabel(document)}>${T.addLabel}</button>
            <button title=${T.renameTitle} @click=${() => actions.editTitle(document)}>${T.rename}</button>`
        : nothing
    }
    <button aria-pressed=${isSelected} @click=${() => actions.select(document.id, { range: false })}>${isSelected ? T.deselect : T.select}</button>
    ${
      hasOriginal(document, pageData)
        ? html`<button @click=${() => actions.download(document)}>${T.download}</button>`
        : nothing
    }
    ${mayEdit ? html`<button @click=${() => actions.deleteOpened(document)}>${T.delete}</button>` : nothing}
    ${mayChange && inTrash ? html`<button class="primary" @click=${() => actions.restoreOpened(document)}>${TEXTS.trash.restore}</button>` : nothing}
  </div>`;
}

function content(
  document: FoundDocument,
  pageData: PageData,
  actions: Actions,
  collection: Collection,
  isRanked: boolean,
): TemplateResult {
  const inTrash = isTrash(collection.name);
  const mayChange = pageData.scope === 'index' || pageData.scope === 'admin';
  const mayEdit = mayChange && !inTrash;
  const labels = strings(document.labels);
  // A label may already name the colour: show the word once.
  const colors = strings(document.color_names).filter((name) => !labels.includes(name));
  const chips = [
    ...labels.map((label) => ['labels', label] as const),
    ...colors.map((name) => ['color_names', name] as const),
  ];
  const swipe = swipeListeners((by) => !isZoomed() && step(by, actions));
  return html`
    <div class="viewer" @touchstart=${swipe.begin} @touchend=${swipe.end}>
      ${stage(document, pageData, collection)}
      <button class="step back" aria-label=${T.previous} title=${T.previousTitle} @click=${() => step(-1, actions)}>‹</button>
      <button class="step on" aria-label=${T.next} title=${T.nextTitle} @click=${() => step(1, actions)}>›</button>
    </div>
    <div class="about-picture">
      <button class="quiet close" aria-label=${T.close} @click=${() => actions.open(null)}>×</button>
      <h2>${titleOf(document)}</h2>
      ${pageData.error ? html`<p class="error" role="alert">${pageData.error}</p>` : nothing}
      <div class="modes" role="group" aria-label=${T.searchBy}>
        ${similarTo(document, actions)}
        ${isAnalyzed(document) ? html`<button title=${TEXTS.question.partTitle} @click=${() => actions.searchPart(document)}>${TEXTS.question.part}</button>` : nothing}
      </div>
      ${isRanked && isAnalyzed(document) ? exampleButtons(document, actions) : nothing}
      ${paletteOf(document, 'big', (hex) => actions.searchBy({ by: 'hex', hex }, 'color'))}
      <p class="chips">
        ${chips.map(
          ([field, value]) =>
            html`<button class="chip" title=${T.showOnly(filterText(filterOf(field, value)))} @click=${() => actions.addFilter(filterOf(field, value))}>${value}</button>
              ${
                mayEdit && field === 'labels'
                  ? html`<button class="chip remove" aria-label=${T.removeLabel(value)} title=${T.removeLabel(value)} @click=${() => actions.removeLabel(document, value)}>×</button>`
                  : nothing
              }`,
        )}
      </p>
      ${predictedTags(pageData.openedTags, [], actions, labels, mayEdit ? (label) => void actions.addLabel(document, label) : undefined)}
      ${commonParts(document, pageData, actions, collection)} ${ownActions(document, pageData, actions, { mayChange, inTrash })} ${facts(document, actions, mayEdit)}
    </div>`;
}
