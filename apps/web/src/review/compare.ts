import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { stagePicture } from '../details/stage.ts';
import { titleOf } from '../elements.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import { factLines } from './facts.ts';
import { membersAbove } from './files.ts';
import { REVIEW_TEXTS as T } from './texts.ts';

const DIALOG = 'compare';

/** Shows the members of a group one after another in the same place, so that differences are visible as flicker. */
export function compareDialog(pageData: PageData, actions: Actions, collection: Collection): TemplateResult {
  const { comparison, minScore, groups } = pageData.review;
  const group = groups.find(({ id }) => id === comparison?.group);
  const members = group ? membersAbove(group, minScore) : [];
  const at = comparison ? (comparison.at + members.length) % Math.max(1, members.length) : 0;
  const member = members[at];
  const close = () => actions.compare(null);
  const go = (by: number) => comparison && actions.compare({ ...comparison, at: at + by });
  const press = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'ArrowRight') go(1);
    else if (event.key === 'ArrowLeft') go(-1);
    else if (event.key === 'k' && member) actions.markForDeletion([member.id], false);
    else if (event.key === 'd' && member) actions.markForDeletion([member.id], true);
    else return;
    event.preventDefault();
  };
  return html`<dialog id=${DIALOG} class="compare" aria-label=${T.compareTitle} @keydown=${press} @close=${close}>
    ${comparison && member ? content(member, at, members, pageData, actions, collection, go) : nothing}
  </dialog>`;
}

/** Opens the dialog if it has content, otherwise closes it. */
export function showCompared(): void {
  const dialog = document.getElementById(DIALOG) as HTMLDialogElement | null;
  if (!dialog) return;
  const wanted = dialog.querySelector('h2') !== null;
  if (wanted && !dialog.open) dialog.showModal();
  if (!wanted && dialog.open) dialog.close();
}

function content(
  member: FoundDocument,
  at: number,
  members: readonly FoundDocument[],
  pageData: PageData,
  actions: Actions,
  collection: Collection,
  go: (by: number) => void,
): TemplateResult {
  const isChosen = pageData.review.marked.has(member.id);
  // All pictures are in the same place; only one is visible.
  return html`
    <div class="compare-head">
      <h2>${titleOf(member)}</h2>
      <button class="quiet" aria-label=${TEXTS.details.close} @click=${() => actions.compare(null)}>×</button>
    </div>
    <div class="compare-stage">
      ${members.map((one, i) => html`<div class="compared" ?hidden=${i !== at}>${near(i, at, members.length) ? stagePicture(one, pageData, collection) : nothing}</div>`)}
    </div>
    <div class="compare-foot">
      <button aria-label=${TEXTS.details.previous} @click=${() => go(-1)}>‹</button>
      <span class="facts" aria-live="polite">${[`${at + 1}/${members.length}`, ...factLines(member)].join(' · ')}</span>
      <label class="choose"><input type="checkbox" .checked=${isChosen}
        @change=${(event: Event) => actions.markForDeletion([member.id], (event.target as HTMLInputElement).checked)} />${T.delete}</label>
      <button aria-label=${TEXTS.details.next} @click=${() => go(1)}>›</button>
    </div>`;
}

/** The previous and the next picture are loaded too. */
function near(i: number, at: number, length: number): boolean {
  const apart = Math.abs(i - at);
  return apart <= 1 || apart === length - 1;
}
