import { AkinError } from '@akin/domain';
import type { ParameterList } from '../http/parameters.ts';

/** One input of a ranked search. */
export interface RankInput {
  readonly kind: 'id' | 'url' | 'data' | 'hex' | 'text' | 'outputs';
  /** Its parameter, for messages. */
  readonly parameter: string;
  readonly value: string;
  readonly weight: number;
}

const KINDS: Readonly<Record<string, RankInput['kind']>> = {
  'rank.by.id': 'id',
  'rank.by.url': 'url',
  'rank.by.data': 'data',
  'rank.by.hex': 'hex',
  'rank.by.text': 'text',
  'rank.by.outputs': 'outputs',
};

/** More examples add nothing, and each may need an analysis. */
const MAX_INPUTS = 20;

/**
 * The `rank.by.*` of a request in their order, each with its weight.
 *
 * @param weights the parameter `rank.weights`: one number for each input. Absent: all are 1.
 * @throws AkinError bad-request
 */
export function readRankInputs(list: ParameterList, weights: string | undefined): RankInput[] {
  const inputs = list.filter(([name, value]) => Object.hasOwn(KINDS, name) && value !== '');
  if (inputs.length > MAX_INPUTS) {
    throw new AkinError('bad-request', `A search ranks by at most ${MAX_INPUTS} inputs, not ${inputs.length}.`);
  }
  const numbers = weights === undefined ? inputs.map(() => 1) : weights.split(',').map(readWeight);
  if (numbers.length !== inputs.length) {
    throw new AkinError(
      'bad-request',
      `Parameter rank.weights has ${numbers.length} numbers for ${inputs.length} rank.by.* inputs: give one for each.`,
    );
  }
  if (inputs.length > 0 && numbers.every((weight) => weight === 0)) {
    throw new AkinError('bad-request', 'Parameter rank.weights contains only zeros: give at least one other number.');
  }
  return inputs.map(([name, value], index) => ({
    kind: KINDS[name] as RankInput['kind'],
    parameter: name,
    value,
    weight: numbers[index] as number,
  }));
}

function readWeight(text: string): number {
  const trimmed = text.trim();
  const weight = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (Number.isNaN(weight)) {
    throw new AkinError(
      'bad-request',
      `Parameter rank.weights contains ${JSON.stringify(trimmed.slice(0, 40))}, which is not a number.`,
    );
  }
  return weight;
}
