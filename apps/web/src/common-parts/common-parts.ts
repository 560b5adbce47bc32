import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { picture, scoreText, titleOf } from '../elements.ts';
import { filterOf } from '../facets.ts';
import type { Model } from '../model.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import { FIELDS_WITH_PARTS } from '../view-state.ts';
import { boxOn } from './box-view.ts';
import { type Box, boxesOf, relationOf } from './boxes.ts';

const T = TEXTS.commonParts;
const MAX_SHOWN = 12;

/** Whether akin finds parts of pictures in this collection. */
export async function hasParts({ pageData, collection }: Model): Promise<boolean> {
  const { modules } = pageData.status ?? (await collection.status());
  return modules?.includes('parts') === true;
}

/** Finds the pictures that have a part in common with the opened one. The page works without them. */
export async function findCommonParts(model: Model, document: FoundDocument): Promise<void> {
  const { collection } = model;
  if (!(await hasParts(model).catch(() => false))) return;
  const parameters = {
    'rank.by.id': document.id,
    fq: `-${filterOf('id', document.id)}`,
    fl: FIELDS_WITH_PARTS,
    rows: MAX_SHOWN,
  };
  const found = await collection.parts(parameters).catch(() => undefined);
  if (found && isOpened(model, collection, document.id)) model.update({ openedParts: found.response.docs });
}

/** Whether a document is still the opened one, perhaps with other fields since. */
export function isOpened({ pageData, state }: Model, collection: Collection, id: string): boolean {
  return pageData.opened?.id === id && state.collection === collection.name;
}

/** Pictures that contain the opened one or are a part of it, with the part on both. */
export function commonParts(
  opened: FoundDocument,
  { openedParts }: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  const shown = openedParts.flatMap((document) => {
    const boxes = boxesOf(document);
    return boxes ? [{ document, boxes }] : [];
  });
  if (shown.length === 0) return nothing;
  return html`<section class="common-parts" aria-labelledby="common-parts">
    <h3 id="common-parts">${T.title}</h3>
    <ul>
      ${shown.map(
        ({ document, boxes }) => html`<li>
          <button title=${TEXTS.details.title} @click=${() => actions.open(document)}>
            ${boxed(opened, boxes.query, collection)} ${boxed(document, boxes.document, collection)}
            <span class="relation">${T.relations[relationOf(boxes)]} <span class="about">${titleOf(document)} · ${scoreText(document.score ?? 0)}</span></span>
          </button>
        </li>`,
      )}
    </ul>
  </section>`;
}

export function boxed(document: FoundDocument, box: Box, collection: Collection): TemplateResult {
  return html`<span class="boxed">${picture(document, collection)}${boxOn(box)}</span>`;
}
