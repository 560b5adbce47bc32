import { badRequest, parseRegion, type Region } from '@akin/domain';
import type { ParameterList } from '../parameters/parameters.ts';

export interface RankInput {
  readonly kind: 'id' | 'url' | 'data' | 'hex' | 'text' | 'outputs';
  /** Its parameter, for messages. */
  readonly parameter: string;
  readonly value: string;
  readonly weight: number;
  /** The part of the picture that counts. Undefined: all of it. */
  readonly region?: Region | undefined;
}

const KINDS: Readonly<Record<string, RankInput['kind']>> = {
  'rank.by.id': 'id',
  'rank.by.url': 'url',
  'rank.by.data': 'data',
  'rank.by.hex': 'hex',
  'rank.by.text': 'text',
  'rank.by.outputs': 'outputs',
};

/** Kinds that are pictures, which have regions. */
const PICTURES: readonly RankInput['kind'][] = ['id', 'url', 'data'];

/** More examples add nothing, and each may need an analysis. */
const MAX_INPUTS = 20;

/**
 * The `rank.by.*` of a request in their order, each with its weight, and pictures with their region.
 *
 * @param weights the parameter `rank.weights`: one number for each input. Absent: all are 1.
 * @throws AkinError bad-request
 */
export function readRankInputs(list: ParameterList, weights: string | undefined): RankInput[] {
  const inputs = list.filter(([name, value]) => Object.hasOwn(KINDS, name) && value !== '');
  if (inputs.length > MAX_INPUTS) {
    throw badRequest(`A search ranks by at most ${MAX_INPUTS} inputs, not ${inputs.length}.`);
  }
  const numbers = weights === undefined ? inputs.map(() => 1) : weights.split(',').map(readWeight);
  if (numbers.length !== inputs.length) {
    throw badRequest(
      `Parameter rank.weights has ${numbers.length} numbers for ${inputs.length} rank.by.* inputs: give one for each.`,
    );
  }
  if (inputs.length > 0 && numbers.every((weight) => weight === 0)) {
    throw badRequest('Parameter rank.weights contains only zeros: give at least one other number.');
  }
  const read = inputs.map(
    ([name, value], index): RankInput => ({
      kind: KINDS[name] as RankInput['kind'],
      parameter: name,
      value,
      weight: numbers[index] as number,
    }),
  );
  return withRegions(
    read,
    list.flatMap(([name, value]) => (name === 'rank.region' ? [value] : [])),
  );
}

/** Gives each picture its region, in their order. An empty one means the whole picture. */
function withRegions(inputs: readonly RankInput[], texts: readonly string[]): RankInput[] {
  const regions = texts.map((text) => readRegion(text, 'rank.region'));
  const pictures = inputs.filter(({ kind }) => PICTURES.includes(kind));
  if (regions.slice(pictures.length).some((region) => region !== undefined)) {
    throw badRequest(
      `Parameter rank.region is given ${regions.length} times for ${pictures.length} pictures: give one for each rank.by.id, rank.by.url, rank.by.data or file, in their order. Colours, words and outputs have none.`,
    );
  }
  return inputs.map((input) => ({ ...input, region: regions[pictures.indexOf(input)] }));
}

/**
 * Undefined if the text is empty.
 *
 * @param parameter its name, for messages
 * @throws AkinError bad-request
 */
export function readRegion(text: string | undefined, parameter: string): Region | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const region = parseRegion(text);
  if (region !== null) return region;
  throw badRequest(
    `Parameter ${parameter} is x,y,w,h in fractions of the upright picture, such as 0.5,0,0.5,1 for its right half: x and y from 0, w and h above 0, x+w and y+h at most 1. It is ${JSON.stringify(text.slice(0, 60))}.`,
  );
}

function readWeight(text: string): number {
  const trimmed = text.trim();
  const weight = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?$/.test(trimmed) ? Number(trimmed) : Number.NaN;
  if (Number.isNaN(weight)) {
    throw badRequest(`Parameter rank.weights contains ${JSON.stringify(trimmed.slice(0, 40))}, which is not a number.`);
  }
  return weight;
}
