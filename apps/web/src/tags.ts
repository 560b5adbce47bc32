import type { PredictedTag } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { filterOf } from './facets.ts';
import type { Actions } from './page.ts';

export type PredictedTags = readonly PredictedTag[];

/** Labels below this confidence are guesses. */
export const LEAST_CONFIDENCE = 0.1;
export const MOST_TAGS = 6;

/**
 * Labels that neighbours voted for, each a filter.
 *
 * @param known labels that the picture has anyway
 */
export function predictedTags(
  tags: PredictedTags | null,
  filters: readonly string[],
  actions: Actions,
  known: readonly string[] = [],
): TemplateResult | typeof nothing {
  const shown = (tags ?? []).filter(({ tag }) => !known.includes(tag));
  if (shown.length === 0) return nothing;
  return html`<p class="chips tags" aria-label="Predicted labels">
    <span class="about" title="Labels of what looks most like it">${known.length > 0 ? 'Perhaps also' : 'Perhaps'}</span>
    ${shown.map(({ tag, confidence, voters }) => {
      const filter = filterOf('labels', tag);
      const percent = `${Math.round(confidence * 100)} %`;
      const about = `${tag}: ${percent} sure, by ${voters.length} like it. Only these`;
      return html`<button class="chip" title=${about} ?disabled=${filters.includes(filter)} @click=${() => actions.addFilter(filter)}>
        <span>${tag}</span> <span class="count">${percent}</span>
      </button>`;
    })}
  </p>`;
}
