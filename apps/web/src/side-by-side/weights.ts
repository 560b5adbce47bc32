import { readColors, writeColors } from '../filters/color-query.ts';
import { TEXTS } from '../texts.ts';
import { type ViewState, weightOf } from '../view-state.ts';

/** A part of the query whose weight can be changed: one of its colours or examples. */
export interface WeightedInput {
  readonly name: string;
  readonly weight: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
}

/** Empty if all has the same weight, whatever it is. */
export function weightedInputs({ query, examples }: ViewState): WeightedInput[] {
  if (query?.by === 'hex') {
    const colors = readColors(query.hex);
    return colors.length < 2 ? [] : colors.map(({ hex, weight }) => ({ name: hex, weight, min: 1, max: 10, step: 1 }));
  }
  return examples.map((example) => ({
    name: TEXTS.also[example.sign](example.id),
    weight: weightOf(example),
    // The picture of the query itself has the weight 1.
    min: -2,
    max: 2,
    step: 0.25,
  }));
}

/** @param weights for each weighted input; absent: as they are */
export function withWeights(state: ViewState, weights: readonly number[] | undefined): ViewState {
  const { query, examples } = state;
  if (weights === undefined) return state;
  if (query?.by === 'hex') {
    const colors = readColors(query.hex).map(({ hex, weight }, i) => ({ hex, weight: weights[i] ?? weight }));
    return { ...state, query: { by: 'hex', hex: writeColors(colors) } };
  }
  return { ...state, examples: examples.map((one, i) => ({ ...one, weight: weights[i] ?? weightOf(one) })) };
}
