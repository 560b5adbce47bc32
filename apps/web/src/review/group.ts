import type { Collection, FoundDocument, FoundGroup } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { picture, scoreText, titleOf } from '../elements.ts';
import { factLines } from './facts.ts';
import { membersAbove } from './files.ts';
import { foldersOf, type KeepRule } from './keep.ts';
import type { Review } from './state.ts';
import { REVIEW_TEXTS as T } from './texts.ts';

/** Groups with more members take two columns, or a whole row. */
const NARROW = 3;
const BROAD = 6;

/** One group of near-duplicates; nothing if the minimum score leaves only one member. */
export function groupOf(
  group: FoundGroup,
  shown: Review,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  const members = membersAbove(group, shown.minScore);
  if (members.length < 2) return nothing;
  const [first] = members;
  // Members are sorted by descending score: after one below the minimum, there are no more to show.
  const isCut = (group.members.at(-1)?.score ?? 1) < shown.minScore;
  const more = isCut ? 0 : Math.max(0, group.size - group.members.length);
  const size = members.length + more;
  return html`<section class=${size > BROAD ? 'group wide' : size > NARROW ? 'group broad' : 'group'} data-group=${group.id}
    aria-label=${`${T.alike(size)}: ${first ? titleOf(first) : group.id}`}>
    <div class="group-head">
      <h2>${T.alike(size)}</h2>
      <span class="spacer"></span>
      ${keepRuleSelect(T.keep, foldersOf(members), (keep) => actions.markAllExcept(keep, group.id))}
      <button class="quiet" title=${T.compareTitle} @click=${() => actions.compare({ group: group.id, at: 1 })}>${T.compare}</button>
      <button class="quiet" title=${T.differentTitle} @click=${() => actions.markAsDifferent(group.id)}>${T.different}</button>
      <button class="quiet" title=${T.searchTitle} @click=${() => actions.searchBy({ by: 'id', id: group.representative }, 'duplicate')}>${T.search}</button>
    </div>
    <ul class="grid">
      ${members.map((member) => memberOf(member, group, shown, actions, collection))}
    </ul>
    ${
      more > 0
        ? html`<button class="more" @click=${() => actions.loadMoreMembers(group.id)}>${T.moreMembers(more)}</button>`
        : nothing
    }
  </section>`;
}

export function keepRuleSelect(
  name: string,
  folders: readonly string[],
  act: (keep: KeepRule) => void,
): TemplateResult {
  const change = (event: Event) => {
    const select = event.target as HTMLSelectElement;
    act(select.value as KeepRule);
    select.value = '';
  };
  return html`<select class="keep" aria-label=${name} @change=${change}>
    <option value="" selected hidden>${name}</option>
    ${Object.entries(T.keeps).map(([value, label]) => html`<option value=${value}>${label}</option>`)}
    ${folders.map((folder) => html`<option value=${`folder:${folder}`}>${T.keepFolder(folder)}</option>`)}
  </select>`;
}

function memberOf(
  member: FoundDocument,
  group: FoundGroup,
  { marked }: Review,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const name = titleOf(member);
  const isFirst = member.id === group.representative;
  const isChosen = marked.has(member.id);
  return html`<li class=${isChosen ? 'card chosen' : 'card'} data-id=${member.id}>
    <button class="picture" title=${name} @click=${() => actions.open(member)}>
      ${picture(member, collection)}
      ${
        isFirst
          ? html`<span class="score" title=${T.firstTitle}>${T.first}</span>`
          : html`<span class="score" title=${T.scoreTitle(group.representative)}>${scoreText(member.score ?? 0)}</span>`
      }
    </button>
    <p class="name">${name}</p>
    ${factLines(member).map((line) => html`<p class="fact" title=${line}>${line}</p>`)}
    <label class="choose">
      <input type="checkbox" .checked=${isChosen}
        @change=${(event: Event) => actions.markForDeletion([member.id], (event.target as HTMLInputElement).checked)} />
      ${T.delete}
    </label>
  </li>`;
}
