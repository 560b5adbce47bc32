import type { Model } from '../model.ts';
import { searchRequest } from '../view-state.ts';
import type { Other } from './state.ts';
import { withWeights } from './weights.ts';

/** Results on each side. */
const ROWS = 24;

/** Shows the first results of the current query next to those in another mode, of another collection, or with other weights. */
export async function compareWith(model: Model, other: Other): Promise<void> {
  const waiting = { other, found: model.pageData.sideBySide?.found ?? null };
  model.update({ sideBySide: waiting, error: null });
  const { state, akin, collection } = model;
  try {
    const left = searchRequest(state, 0, ROWS, model.filters());
    const right = searchRequest({ ...withWeights(state, other.weights), mode: other.mode }, 0, ROWS, model.filters());
    const [first, second] = await Promise.all([
      collection[left.endpoint](left.parameters),
      akin.collection(other.collection)[right.endpoint](right.parameters),
    ]);
    if (model.pageData.sideBySide !== waiting) return;
    model.update({ sideBySide: { other, found: { left: first.response.docs, right: second.response.docs } } });
  } catch (error) {
    if (model.pageData.sideBySide !== waiting) return;
    model.update({ sideBySide: null });
    model.showError(error);
  }
}
