import type { Collection, FoundDocument, FoundGroup } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { picture, scoreText, titleOf } from './parts.ts';
import { KEPT_SECONDS, MOST_KEPT } from './undo.ts';

/** What the page knows of the groups of near-duplicates. */
export interface Review {
  readonly groups: readonly FoundGroup[];
  /** Null while nothing came yet. */
  readonly numFound: number | null;
  readonly numFoundExact: boolean;
  readonly threshold: number;
  /** The groups are right up to `asOfCommit`; the collection is at `commit`. */
  readonly commit: number;
  readonly asOfCommit: number;
  readonly nextCursor: string | undefined;
  /** Ids of documents to delete. */
  readonly chosen: ReadonlySet<string>;
  readonly deleting: boolean;
}

export const NO_REVIEW: Review = {
  groups: [],
  numFound: null,
  numFoundExact: true,
  threshold: 0,
  commit: 0,
  asOfCommit: 0,
  nextCursor: undefined,
  chosen: new Set(),
  deleting: false,
};

/** Members of a group that are listed at first. */
export const MEMBERS_SHOWN = 20;

/** Groups of near-duplicates, one below the other, and what to do with those that were chosen. */
export function review(shown: Review, loading: boolean, actions: Actions, collection: Collection): TemplateResult {
  return html`
    ${about(shown)}
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
        ? html`<button class="more" ?disabled=${loading} @click=${actions.more}>${loading ? 'Loading…' : 'More'}</button>`
        : nothing
    }
    ${shown.chosen.size > 0 ? chosenBar(shown, actions) : nothing} ${confirmation(shown, actions)}`;
}

function about({ numFound, threshold, commit, asOfCommit }: Review): TemplateResult | typeof nothing {
  if (numFound === null) return nothing;
  const behind = commit - asOfCommit;
  return html`<p class="about">
    Every picture is a near-duplicate of the first one in its group: the two score at least ${threshold}.
    ${behind > 0 ? html`<span class="behind">Still looking through the latest changes…</span>` : nothing}
  </p>`;
}

function groupOf(group: FoundGroup, shown: Review, actions: Actions, collection: Collection): TemplateResult {
  const [first] = group.members;
  const rest = group.members.filter((member) => member !== first).map(({ id }) => id);
  const allChosen = rest.length > 0 && rest.every((id) => shown.chosen.has(id));
  const more = Math.max(0, group.size - group.members.length);
  return html`<section class="group" aria-label=${`${group.size} alike: ${first ? titleOf(first) : group.id}`}>
    <div class="group-head">
      <h2>${group.size.toLocaleString()} alike</h2>
      <span class="spacer"></span>
      <button class="quiet" title="Choose them to be deleted"
        @click=${() => (allChosen && more === 0 ? actions.choose(rest, false) : actions.chooseRest(group.id))}>
        ${allChosen && more === 0 ? 'Keep all' : 'All but the first'}
      </button>
      <button class="quiet" title="Search for more duplicates of the first one" @click=${() => actions.ask({ by: 'id', id: group.representative }, 'duplicate')}>
        Search
      </button>
    </div>
    <ul class="grid">
      ${group.members.map((member) => memberOf(member, group, shown, actions, collection))}
    </ul>
    ${
      more > 0
        ? html`<button class="more" @click=${() => actions.moreMembers(group.id)}>
            ${more.toLocaleString()} more in this group
          </button>`
        : nothing
    }
  </section>`;
}

function memberOf(
  member: FoundDocument,
  group: FoundGroup,
  { chosen }: Review,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const name = titleOf(member);
  const isFirst = member.id === group.representative;
  const isChosen = chosen.has(member.id);
  const score = member.score ?? 0;
  return html`<li class=${isChosen ? 'card chosen' : 'card'}>
    <button class="picture" title=${name} @click=${() => actions.open(member)}>
      ${picture(member, collection)}
      ${
        isFirst
          ? html`<span class="score" title="The others were compared with this one">first</span>`
          : html`<span class="score" title=${`Score with ${group.representative}`}>${scoreText(score)}</span>`
      }
    </button>
    <p class="name">${name}</p>
    <label class="choose">
      <input type="checkbox" .checked=${isChosen}
        @change=${(event: Event) => actions.choose([member.id], (event.target as HTMLInputElement).checked)} />
      Delete
    </label>
  </li>`;
}

function emptyNote(shown: Review, loading: boolean): TemplateResult | typeof nothing {
  if (loading || shown.numFound === null || shown.groups.length > 0) return nothing;
  if (shown.asOfCommit < shown.commit) return html`<p class="note">Looking for near-duplicates…</p>`;
  return html`<p class="note">No near-duplicates here: nothing to review.</p>`;
}

const DIALOG = 'confirm-delete';

export function askForDelete(): void {
  (document.getElementById(DIALOG) as HTMLDialogElement).showModal();
}

/** Closes the question without an answer. */
export function closeQuestions(): void {
  (document.getElementById(DIALOG) as HTMLDialogElement | null)?.close();
}

function chosenBar({ chosen, deleting }: Review, actions: Actions): TemplateResult {
  return html`<div class="chosen-bar" role="region" aria-label="Chosen documents">
    <span aria-live="polite">${chosen.size.toLocaleString()} chosen</span>
    <button class="quiet" @click=${() => actions.choose([...chosen], false)}>Keep all</button>
    <button class="primary" ?disabled=${deleting} @click=${actions.askForDelete}>${deleting ? 'Deleting…' : 'Delete…'}</button>
  </div>`;
}

/** Asks before anything goes. */
function confirmation({ chosen, groups }: Review, actions: Actions): TemplateResult {
  const emptied = groups.filter(
    ({ size, members }) => size === members.length && members.every(({ id }) => chosen.has(id)),
  ).length;
  const close = (event: Event) => (event.currentTarget as HTMLElement).closest('dialog')?.close();
  const confirm = (event: Event) => {
    close(event);
    void actions.deleteChosen();
  };
  return html`<dialog id=${DIALOG} aria-label="Delete documents" @close=${actions.answered}>
    <p><b>Delete ${chosen.size.toLocaleString()} document${chosen.size === 1 ? '' : 's'} from the collection?</b></p>
    <p>
      ${chosen.size > MOST_KEPT ? 'You cannot undo this: there are too many.' : `You can undo this for ${KEPT_SECONDS} seconds.`}
      The files of the pictures stay where they are.
      ${emptied > 0 ? html`<b>${emptied === 1 ? 'One group loses' : `${emptied.toLocaleString()} groups lose`} all pictures.</b>` : nothing}
    </p>
    <div class="dialog-actions">
      <button autofocus @click=${close}>Cancel</button>
      <button class="primary" @click=${confirm}>Delete</button>
    </div>
  </dialog>`;
}
