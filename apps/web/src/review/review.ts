import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { scoreText } from '../elements.ts';
import { TEXTS } from '../texts.ts';
import { UNDO_SECONDS } from '../undoable.ts';
import { membersAbove, pathsToDelete } from './files.ts';
import { groupOf, keepRuleSelect } from './group.ts';
import { foldersOf } from './keep.ts';
import { takeovers } from './merge.ts';
import { pairsView } from './part-pairs.ts';
import type { Review } from './state.ts';
import { REVIEW_TEXTS as T } from './texts.ts';

export function review(shown: Review, loading: boolean, actions: Actions, collection: Collection): TemplateResult {
  return html`
    ${toolbar(shown, actions)}
    <div class="review">
      ${repeat(
        shown.groups,
        ({ id }) => id,
        (group) => groupOf(group, shown, actions, collection),
      )}
    </div>
    ${emptyNote(shown, loading)}
    ${
      shown.nextCursor !== undefined
        ? html`<button class="more" ?disabled=${loading} @click=${actions.loadMore}>${loading ? TEXTS.results.loading : TEXTS.results.more}</button>`
        : nothing
    }
    ${pairsView(shown, actions, collection)} ${shown.marked.size > 0 ? markedBar(shown, actions) : nothing} ${confirmation(shown, actions)}`;
}

function toolbar(shown: Review, actions: Actions): TemplateResult | typeof nothing {
  const { numFound, threshold, minScore, maxNumFound, commit, asOfCommit, groups } = shown;
  if (numFound === null || (groups.length === 0 && maxNumFound === 0)) return nothing;
  const done = Math.max(0, maxNumFound - numFound);
  return html`<div class="review-bar" role="group" aria-label=${T.toolbar}>
    <label class="least">${T.least}
      <input type="range" min=${threshold} max="1" step="0.005" .value=${String(Math.max(threshold, minScore))}
        aria-valuetext=${scoreText(Math.max(threshold, minScore))}
        @input=${(event: Event) => actions.setMinScore(Number((event.target as HTMLInputElement).value))} />
      <output>${scoreText(Math.max(threshold, minScore))}</output>
    </label>
    ${keepRuleSelect(T.keepInAll, foldersOf(groups.flatMap(({ members }) => members)), (keep) => actions.markAllExcept(keep))}
    <span class="spacer"></span>
    ${commit > asOfCommit ? html`<span class="behind">${T.behind}</span>` : nothing}
    ${
      done > 0
        ? html`<span class="about">${T.done(done, maxNumFound)}</span>
            <progress aria-label=${T.progress} max=${maxNumFound} .value=${done}></progress>`
        : nothing
    }
    <span class="about keys">${T.keys}</span>
  </div>`;
}

function emptyNote(shown: Review, loading: boolean): TemplateResult | typeof nothing {
  if (loading || shown.numFound === null || shown.groups.length > 0) return nothing;
  if (shown.asOfCommit < shown.commit) return html`<p class="note">${T.lookingFor}</p>`;
  return shown.pairs.length > 0 ? nothing : html`<p class="note">${T.none}</p>`;
}

const DIALOG = 'confirm-delete';

export function askForDelete(): void {
  (document.getElementById(DIALOG) as HTMLDialogElement).showModal();
}

export function closeDialogs(): void {
  (document.getElementById(DIALOG) as HTMLDialogElement | null)?.close();
}

function markedBar({ marked, deleting }: Review, actions: Actions): TemplateResult {
  return html`<div class="chosen-bar" role="region" aria-label=${T.chosenRegion}>
    <span aria-live="polite">${T.chosen(marked.size)}</span>
    <button class="quiet" @click=${() => actions.markForDeletion([...marked], false)}>${T.keepAll}</button>
    <button class="primary" ?disabled=${deleting} @click=${actions.askForDelete}>${deleting ? T.deleting : T.deleteChosen}</button>
  </div>`;
}

function confirmation({ marked, groups, minScore }: Review, actions: Actions): TemplateResult {
  const emptied = groups.filter(
    ({ size, members }) => size === members.length && members.every(({ id }) => marked.has(id)),
  ).length;
  const members = groups.map((group) => membersAbove(group, minScore));
  const { paths, left } = pathsToDelete(members, marked);
  const merged = takeovers(members, marked).length;
  const close = (event: Event) => (event.currentTarget as HTMLElement).closest('dialog')?.close();
  const confirm = (event: Event) => {
    const dialog = (event.currentTarget as HTMLElement).closest('dialog');
    const isMerging = dialog?.querySelector<HTMLInputElement>('input[name=merge]')?.checked === true;
    close(event);
    void actions.deleteMarked(isMerging);
  };
  return html`<dialog id=${DIALOG} aria-label=${T.confirm} @close=${actions.answered}>
    <p><b>${T.question(marked.size)}</b></p>
    <p>
      ${T.undoFor(UNDO_SECONDS)}
      ${T.filesStay}
      ${emptied > 0 ? html`<b>${T.emptied(emptied)}</b>` : nothing}
      ${paths.length > 0 && left > 0 ? T.pathsLeft(left) : nothing}
    </p>
    ${
      merged > 0
        ? html`<label class="choose"><input type="checkbox" name="merge" checked />${T.merge(merged)}</label>`
        : nothing
    }
    <div class="dialog-actions">
      ${
        paths.length > 0
          ? html`<button class="quiet" @click=${() => actions.copy(paths.join('\n'))}>${T.copyPaths}</button>
              <span class="spacer"></span>`
          : nothing
      }
      <button autofocus @click=${close}>${TEXTS.page.cancel}</button>
      <button class="primary" @click=${confirm}>${T.delete}</button>
    </div>
  </dialog>`;
}
