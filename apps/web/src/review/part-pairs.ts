import type { Collection, PartPair } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { boxed, hasParts } from '../common-parts/common-parts.ts';
import { scoreText, titleOf } from '../elements.ts';
import type { Model } from '../model.ts';
import { TEXTS } from '../texts.ts';
import { offerUndo } from '../undo.ts';
import { groupsParameters } from '../view-state.ts';
import type { Review } from './state.ts';
import { REVIEW_TEXTS as T } from './texts.ts';

const PAGE = 20;
const MAX_ROWS = 100;

/** Loads pairs of a picture and a part of it, if the collection has the module for them. @param page see `loadGroups` */
export async function loadPairs(model: Model, page: 'first' | 'next' | 'again', signal?: AbortSignal): Promise<void> {
  if (!(await hasParts(model))) return;
  const { pairs: before, nextPairs } = model.pageData.review;
  const rows = page === 'again' ? Math.min(Math.max(before.length, PAGE), MAX_ROWS) : PAGE;
  const cursor = page === 'next' ? nextPairs : undefined;
  const parameters = groupsParameters(model.state, rows, model.filters(), cursor);
  const { pairs, numFound, nextCursor } = await model.collection.partPairs(parameters, signal ? { signal } : {});
  // The user has loaded or separated some meanwhile: the answer may be older.
  if (model.pageData.review.pairs !== before) return page === 'next' ? undefined : loadPairs(model, page, signal);
  const all = page === 'next' ? [...before, ...pairs] : pairs;
  model.update({ review: { ...model.pageData.review, pairs: all, pairsFound: numFound, nextPairs: nextCursor } });
}

/** Remembers that two pictures have nothing in common, and offers to undo it. */
export async function separatePair(model: Model, { part, whole }: PartPair): Promise<void> {
  const { collection } = model;
  const ids = [part.id, whole.id];
  await collection.decideGroups(ids, 'different');
  const { review } = model.pageData;
  const pairs = review.pairs.filter((pair) => pair.part.id !== part.id || pair.whole.id !== whole.id);
  model.update({ error: null, review: { ...review, pairs, pairsFound: review.pairsFound - 1 } });
  offerUndo(model, {
    text: T.separated(2),
    async undo() {
      await collection.decideGroups(ids, null);
    },
  });
}

export function pairsView(
  { pairs, pairsFound, nextPairs }: Review,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  if (pairs.length === 0) return nothing;
  return html`<section class="common-parts pairs" aria-labelledby="part-pairs">
    <h2 id="part-pairs">${T.partsTitle} <span class="about">${T.pairs(pairsFound)}</span></h2>
    <ul>
      ${repeat(
        pairs,
        ({ part, whole }) => JSON.stringify([part.id, whole.id]),
        (pair) => html`<li>
          <button title=${TEXTS.details.title} @click=${() => actions.open(pair.part)}>
            ${boxed(pair.part, pair.parts_box.part, collection)} ${boxed(pair.whole, pair.parts_box.whole, collection)}
            <span class="relation">${(pair.copy ? T.copyOf : T.partOf)(titleOf(pair.part), titleOf(pair.whole))} <span class="about">${scoreText(pair.score)}</span></span>
          </button>
          <button class="quiet small-button" title=${T.differentTitle} @click=${() => actions.markPairAsDifferent(pair)}>${T.different}</button>
        </li>`,
      )}
    </ul>
    ${nextPairs === undefined ? nothing : html`<button class="more" @click=${actions.loadMorePairs}>${TEXTS.results.more}</button>`}
  </section>`;
}
