import { type AkinError, badRequest } from '@akin/domain';
import type { ParameterList } from '../parameters/parameters.ts';

export interface Translated {
  readonly list: ParameterList;
  /** Parameters that are ignored because they do no harm. */
  readonly warnings: readonly string[];
}

type Pair = readonly [name: string, value: string];
/** The current equivalent of an old parameter: pairs, or a warning that it has no effect. */
type Translate = (value: string, name: string) => readonly Pair[] | string;

/** Inputs of `rank.by=<kind>:<value>` and `dup.find=<kind>:<value>`, each with its current parameter. */
const INPUTS: Readonly<Record<string, string>> = {
  id: 'rank.by.id',
  url: 'rank.by.url',
  hex: 'rank.by.hex',
  data: 'rank.by.data',
};

/** The nine parts of a picture in the order of `copyspace`, as Flow named them. */
const PARTS = ['nw', 'n', 'ne', 'w', 'c', 'e', 'sw', 's', 'se'];

const TRANSLATIONS: Readonly<Record<string, Translate>> = {
  'rank.by': (value, name) => [inputOf(value, name)],
  'dup.find': (value, name) => [inputOf(value, name), ['rank.mode', 'duplicate']],
  'dup.threshold': (value) => [['rank.threshold', value]],
  'input.urls': (value) => [['input.url', value]],
  'textspace.true': (value, name) => [
    ['fq', value === 'any' ? 'copyspace:[0 TO 8]' : `copyspace:(${partsOf(value, name).join(' AND ')})`],
  ],
  'textspace.false': (value, name) => [['fq', `-copyspace:(${partsOf(value, name).join(' OR ')})`]],
  'rank.conf.weight': (value, name) => {
    if (/^100(\.0*)?$/.test(value)) return `${name} is ignored: scores are always those of the pictures.`;
    throw refusedParameterError(name, 'akin does not mix scores of words and pictures: q filters, and rank.by.* ranks');
  },
  pixolution: (_value, name) => `${name} is ignored: a search ranks by pictures when it has a rank.by.*.`,
};

/** Parameters that may have only one value, so that a second one is an error. */
const SINGLE = ['dup.find', 'input.urls', 'rank.by'];

/**
 * The parameters of a request with the spellings of Flow 4 and 3 replaced by the current ones. If a request contains
 * both, the current spelling has priority.
 *
 * @throws AkinError bad-request for an old spelling without a meaning here, with an alternative
 */
export function translateLegacyParameters(list: ParameterList): Translated {
  if (!list.some(isOld)) return { list, warnings: [] };
  for (const name of SINGLE) {
    if (list.filter(([sent]) => sent === name).length > 1)
      throw refusedParameterError(name, 'it takes one picture per request');
  }
  const translated: Pair[] = [];
  const behind: Pair[] = [];
  const warnings = new Set<string>();
  for (const [name, value] of list) {
    const translate = Object.hasOwn(TRANSLATIONS, name) ? TRANSLATIONS[name] : undefined;
    if (translate && value !== '') {
      const result = translate(value.trim(), name);
      if (typeof result === 'string') warnings.add(result);
      else for (const pair of result) (isInput(pair) ? translated : behind).push(pair);
    } else if (!translate) {
      if (name.startsWith('textspace')) {
        throw refusedParameterError(
          name,
          'filter by free parts of pictures with fq=copyspace:(0 AND 1), from 0 (top left) to 8 (bottom right)',
        );
      }
      translated.push([name, value]);
    }
  }
  return { list: [...translated, ...behind], warnings: [...warnings] };
}

function isOld([name]: Pair): boolean {
  return isOldName(name);
}

/** Whether Flow 4 or 3 knew this name, and akin has another one. */
export function isOldName(name: string): boolean {
  return Object.hasOwn(TRANSLATIONS, name) || name.startsWith('textspace');
}

/** Inputs keep their order, because `rank.weights` depends on it. */
function isInput([name]: Pair): boolean {
  return name.startsWith('rank.by.') || name === 'fq';
}

function inputOf(value: string, name: string): Pair {
  if (isDataUri(value)) return ['rank.by.data', value];
  // No regular expression: on an upload of megabytes one can overflow the stack.
  const colon = value.indexOf(':');
  const kind = value.slice(0, Math.max(colon, 0));
  const parameter = Object.hasOwn(INPUTS, kind) ? INPUTS[kind] : undefined;
  if (parameter && colon + 1 < value.length) return [parameter, value.slice(colon + 1)];
  const kinds = Object.keys(INPUTS).map((known) => `${known}:`);
  throw refusedParameterError(
    name,
    `it must begin with one of ${kinds.join(', ')}; send the outputs of an analysis as rank.by.outputs`,
  );
}

/** A separate value that begins like one of the kind `data`: base64 contains no comma. */
function isDataUri(value: string): boolean {
  return /^data:(?!data:)/.test(value) && value.slice(0, 200).includes(',');
}

function partsOf(value: string, name: string): number[] {
  return value.split(/[\s,]+/).map((part) => {
    const index = /^[0-8]$/.test(part) ? Number(part) : PARTS.indexOf(part.toLowerCase());
    if (index >= 0) return index;
    throw refusedParameterError(
      name,
      `it takes parts of a picture: ${PARTS.join(', ')}, or 0 to 8 as in fq=copyspace:4`,
    );
  });
}

function refusedParameterError(name: string, why: string): AkinError {
  return badRequest(`Parameter ${name}: ${why}.`);
}
