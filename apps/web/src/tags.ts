import type { Collection, PredictedTag, TagParameters } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { filterOf } from './facets.ts';
import { share } from './format.ts';
import { TEXTS } from './texts.ts';

const T = TEXTS.tags;

export type PredictedTags = readonly PredictedTag[];

/** Labels below this confidence are guesses. */
const MIN_CONFIDENCE = 0.1;
const MAX_TAGS = 6;

/** The page works without them. @returns null if akin predicts none */
export async function predictTags(
  collection: Collection,
  input: TagParameters,
  signal?: AbortSignal,
): Promise<PredictedTags | null> {
  const parameters = { ...input, 'tagging.max': MAX_TAGS, 'tagging.threshold': MIN_CONFIDENCE };
  try {
    return (await collection.tag(parameters, signal ? { signal } : {})).tags;
  } catch {
    return null;
  }
}

/**
 * Predicted labels; a click on one filters by it, or accepts it.
 *
 * @param known labels that the document already has
 * @param accept adds the label to the document
 */
export function predictedTags(
  tags: PredictedTags | null,
  filters: readonly string[],
  actions: Actions,
  known: readonly string[] = [],
  accept?: (label: string) => void,
): TemplateResult | typeof nothing {
  const shown = (tags ?? []).filter(({ tag }) => !known.includes(tag));
  if (shown.length === 0) return nothing;
  return html`<p class="chips tags" aria-label=${T.region}>
    <span class="about" title=${T.title}>${known.length > 0 ? T.also : T.perhaps}</span>
    ${shown.map(({ tag, confidence, voters }) => {
      const filter = filterOf('labels', tag);
      const percent = share(confidence);
      const about = (accept ? T.accept : T.about)(tag, percent, voters.length);
      const act = () => (accept ? accept(tag) : actions.addFilter(filter));
      return html`<button class="chip" title=${about} ?disabled=${filters.includes(filter)} @click=${act}>
        <span>${accept ? `+ ${tag}` : tag}</span> <span class="count">${percent}</span>
      </button>`;
    })}
  </p>`;
}
