import type { Collection, FoundDocument, Plain } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { fieldTitle, filterOf, filterText, valueText } from './facets.ts';
import type { Model } from './model.ts';
import { isAnalyzed, paletteOf, picture, strings, titleOf } from './parts.ts';
import type { Shown } from './shown.ts';
import { predictedTags, predictTags } from './tags.ts';
import type { Mode } from './view-state.ts';

const DIALOG = 'details';

export const MODE_NAMES: readonly [Mode, string, string][] = [
  ['content', 'Content', 'Similar pictures'],
  ['color', 'Colour', 'Pictures with similar colours'],
  ['duplicate', 'Duplicates', 'Copies of the same picture'],
];
/** Fields that the page shows in a form of its own, or that say nothing to a person. */
const NOT_LISTED =
  /^(id|score|labels|image|color_palette_\w+|color_names|\w+_(cluster|rerank|nclusters|lopq|descriptor))$/;

/** All about one document, in a modal dialog that is there once and is opened by {@link showModal}. */
export function details(shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  const { opened } = shown;
  const close = () => actions.open(null);
  const cancel = (event: Event) => {
    event.preventDefault();
    close();
  };
  // A click outside of what it holds.
  const leave = (event: Event) => {
    if (event.target === event.currentTarget) close();
  };
  return html`<dialog id=${DIALOG} class="details" aria-label=${opened ? titleOf(opened) : 'Details'} @cancel=${cancel} @click=${leave}>
    <div>${opened ? content(opened, shown, actions, collection) : nothing}</div>
  </dialog>`;
}

/** Opens the dialog when it has something to show, and closes it when not: the browser keeps the focus in it. */
export function showModal(): void {
  const dialog = document.getElementById(DIALOG) as HTMLDialogElement;
  const wanted = dialog.querySelector('h2') !== null;
  if (wanted && !dialog.open) dialog.showModal();
  if (!wanted && dialog.open) dialog.close();
}

/** Shows the document that the address names, or none. */
export async function followAddress(model: Model): Promise<void> {
  const { opened: id } = model.state;
  if (id === null) return model.update({ opened: null });
  const members = model.shown.review.groups.flatMap((group) => group.members);
  const known = [...model.shown.documents, ...members].find((document) => document.id === id);
  if (known) return showDetails(model, known);
  const { docs } = (await model.collection.select({ fq: filterOf('id', id), rows: 1 })).response;
  const [document] = docs;
  if (model.state.opened === id && document) showDetails(model, document);
}

/** Shows all about a document, and asks for labels that it may have. */
export function showDetails(model: Model, document: FoundDocument): void {
  model.update({ opened: document, openedTags: null });
  // Only a picture whose content was analyzed has neighbours.
  if ('content_rerank' in document) void tagOpened(model, document);
}

async function tagOpened(model: Model, document: FoundDocument): Promise<void> {
  const tags = await predictTags(model.collection, { 'tagging.input.id': document.id });
  if (model.shown.opened === document) model.update({ openedTags: tags });
}

function content(document: FoundDocument, shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  const close = () => actions.open(null);
  const labels = strings(document.labels);
  // A label may name the colour already: people need the word once.
  const colors = strings(document.color_names).filter((name) => !labels.includes(name));
  const chips = [
    ...labels.map((label) => ['labels', label] as const),
    ...colors.map((name) => ['color_names', name] as const),
  ];
  return html`
      <button class="quiet close" aria-label="Close" @click=${close}>×</button>
      ${picture(document, collection)}
      <h2>${titleOf(document)}</h2>
      <div class="modes" role="group" aria-label="Search for similar pictures by">
        ${similarTo(document, actions)}
      </div>
      ${paletteOf(document, 'big', (hex) => actions.ask({ by: 'hex', hex }, 'color'))}
      <p class="chips">
        ${chips.map(
          ([field, value]) =>
            html`<button class="chip" title=${`Show only ${filterText(filterOf(field, value))}`} @click=${() => actions.addFilter(filterOf(field, value))}>${value}</button>`,
        )}
      </p>
      ${predictedTags(shown.openedTags, [], actions, labels)}
      <dl>
        <dt>Id</dt><dd>${document.id}</dd>
        ${Object.entries(document)
          .filter(([name]) => !NOT_LISTED.test(name))
          .map(([name, value]) => html`<dt>${fieldTitle(name)}</dt><dd>${shownValue(name, value)}</dd>`)}
        ${
          typeof document.image === 'string' && /^https?:/.test(document.image)
            ? html`<dt>Image</dt><dd><a href=${document.image} rel="noreferrer" target="_blank">${document.image}</a></dd>`
            : nothing
        }
      </dl>`;
}

/** The parts of a picture as `copyspace` numbers them, in reading order. */
const PARTS = ['top left', 'top', 'top right', 'left', 'middle', 'right', 'bottom left', 'bottom', 'bottom right'];

function shownValue(name: string, value: Plain): string {
  if (Array.isArray(value)) {
    return value.map((one) => (name === 'copyspace' ? (PARTS[Number(one)] ?? one) : one)).join(', ');
  }
  if (typeof value === 'boolean') return valueText(String(value));
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value))
    return value.replace(/T00:00:00Z$/, '').replace('T', ' ');
  return String(value);
}

/** A search for similar pictures by each mode, where there is a picture to compare. */
export function similarTo(document: FoundDocument, actions: Actions): readonly TemplateResult[] {
  if (!isAnalyzed(document)) return [];
  return MODE_NAMES.map(
    ([mode, label, about]) =>
      html`<button title=${about} @click=${() => actions.ask({ by: 'id', id: document.id }, mode)}>${label}</button>`,
  );
}
