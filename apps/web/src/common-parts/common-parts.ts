import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { picture, scoreText, titleOf } from '../elements.ts';
import { filterOf } from '../facets.ts';
import type { Model } from '../model.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import { boxOn } from './box-view.ts';
import { boxesOf, relationOf } from './boxes.ts';

const T = TEXTS.commonParts;
const MAX_SHOWN = 12;

/** Whether akin finds parts of pictures in this collection. */
export function hasParts({ status }: Pick<PageData, 'status'>): boolean {
  return status?.modules?.includes('parts') === true;
}

/** Finds the pictures that have a part in common with the opened one. The page works without them. */
export async function findCommonParts(model: Model, document: FoundDocument): Promise<void> {
  const parameters = {
    ...{ 'rank.by.id': document.id, fq: `-${filterOf('id', document.id)}` },
    ...{ fl: '*,score,parts_box', rows: MAX_SHOWN },
  };
  const found = await model.collection.parts(parameters).catch(() => undefined);
  if (found && model.pageData.opened === document) model.update({ openedParts: found.response.docs });
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
            <span class="boxed">${picture(opened, collection)}${boxOn(boxes.query)}</span>
            <span class="boxed">${picture(document, collection)}${boxOn(boxes.document)}</span>
            <span class="relation">${T.relations[relationOf(boxes)]} <span class="about">${titleOf(document)} · ${scoreText(document.score ?? 0)}</span></span>
          </button>
        </li>`,
      )}
    </ul>
  </section>`;
}
