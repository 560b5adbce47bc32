import type { Collection, FoundDocument } from '@akin/client';
import { isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { boxOn } from '../common-parts/box-view.ts';
import { boxesOf } from '../common-parts/boxes.ts';
import { picture, scoreText, titleOf } from '../elements.ts';
import { number } from '../format.ts';
import { hasModes, MODE_NAMES } from '../modes.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import type { ViewState } from '../view-state.ts';
import { type Move, movesOf } from './moves.ts';
import type { Other, SideBySide } from './state.ts';
import { SIDE_BY_SIDE_TEXTS as T } from './texts.ts';
import { weightedInputs } from './weights.ts';

/** The first results of the query in two ways, with what moved and what is new on the right. */
export function sideBySideView(
  state: ViewState,
  pageData: PageData,
  { other, found }: SideBySide,
  actions: Actions,
  collectionOf: (name: string) => Collection,
): TemplateResult {
  const collections = [...new Set([...pageData.collections.filter((name) => !isTrash(name)), state.collection])].sort();
  const { left = [], right = [] } = found ?? {};
  const moves = movesOf(
    left.map(({ id }) => id),
    right.map(({ id }) => id),
  );
  const both = moves.filter(({ kind }) => kind === 'moved').length;
  const choose = (change: Partial<Other>) => actions.compareWith({ ...other, ...change });
  return html`<section class="side-by-side" aria-label=${T.region} aria-busy=${found === null}>
    <div class="side">
      <h2>${nameOf(state.mode)} <span class="about">${state.collection}</span></h2>
      ${list(left, [], collectionOf(state.collection), found !== null)}
    </div>
    <div class="side">
      <div class="line">
        ${
          hasModes(state.query)
            ? html`<select aria-label=${T.mode} .value=${other.mode}
                @change=${(event: Event) => choose({ mode: (event.target as HTMLSelectElement).value })}>
                ${MODE_NAMES.map(([mode, name]) => html`<option value=${mode} ?selected=${mode === other.mode}>${name}</option>`)}
              </select>`
            : html`<h2>${nameOf(other.mode)}</h2>`
        }
        ${
          collections.length < 2
            ? nothing
            : html`<select aria-label=${T.collection} .value=${other.collection}
                @change=${(event: Event) => choose({ collection: (event.target as HTMLSelectElement).value })}>
                ${collections.map((name) => html`<option value=${name} ?selected=${name === other.collection}>${name}</option>`)}
              </select>`
        }
        <span class="about" aria-live="polite">${found ? T.inBoth(both, right.length) : TEXTS.results.loading}</span>
        <span class="spacer"></span>
        <button class="quiet" aria-label=${TEXTS.details.close} @click=${() => actions.compareWith(null)}>×</button>
      </div>
      ${weights(state, other, choose)} ${list(right, moves, collectionOf(other.collection), found !== null)}
    </div>
  </section>`;
}

/** Sliders for the weights of the right side. */
function weights(
  state: ViewState,
  other: Other,
  choose: (change: Partial<Other>) => void,
): TemplateResult | typeof nothing {
  const inputs = weightedInputs(state);
  if (inputs.length === 0) return nothing;
  const now = inputs.map(({ weight }, i) => other.weights?.[i] ?? weight);
  const change = (at: number, { target }: Event) =>
    choose({ weights: now.map((weight, i) => (i === at ? Number((target as HTMLInputElement).value) : weight)) });
  return html`<div class="weights" role="group" aria-label=${T.weights}>
    ${inputs.map(
      ({ name, min, max, step }, i) => html`<label class="line">
        <span>${name}</span>
        <input type="range" min=${min} max=${max} step=${step} .value=${String(now[i])} @change=${(event: Event) => change(i, event)} />
        <output>${number(now[i] ?? 0)}</output>
      </label>`,
    )}
  </div>`;
}

function nameOf(mode: string): string {
  return MODE_NAMES.find(([one]) => one === mode)?.[1] ?? mode;
}

function list(
  documents: readonly FoundDocument[],
  moves: readonly Move[],
  collection: Collection,
  isLoaded: boolean,
): TemplateResult {
  const parts = documents.map((document) => boxesOf(document)?.document);
  if (documents.length === 0) return html`<p class="note">${isLoaded ? T.nothing : ''}</p>`;
  return html`<ol>
    ${documents.map(
      (document, i) => html`<li title=${titleOf(document)}>
        <span class="picture">${picture(document, collection)} ${parts[i] ? boxOn(parts[i]) : nothing}</span>
        <span class="place">${i + 1}</span>
        ${moves[i] === undefined ? nothing : moveOf(moves[i])}
        ${document.score === undefined ? nothing : html`<span class="about">${scoreText(document.score)}</span>`}
      </li>`,
    )}
  </ol>`;
}

function moveOf(move: Move): TemplateResult {
  if (move.kind === 'new') return html`<span class="move new">${T.isNew}</span>`;
  if (move.by === 0) return html`<span class="move" title=${T.same}>=</span>`;
  const places = Math.abs(move.by);
  return move.by > 0
    ? html`<span class="move" title=${T.isHigher(places)}>${T.up(places)}</span>`
    : html`<span class="move" title=${T.isLower(places)}>${T.down(places)}</span>`;
}
