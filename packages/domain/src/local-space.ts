import {
  type Distance,
  EARTH_RADIUS_KILOMETERS,
  type ParameterLookup,
  parseGeodist,
  pointOf,
  spatialField,
} from './geodist.ts';
import type { Query } from './query.ts';
import { quote } from './text.ts';

/** Spatial local parameters, with the parameters of the request as fallback. */
interface SpaceQuery {
  readonly local: ReadonlyMap<string, string>;
  /** Returns a local parameter, or the parameter of the request. */
  readonly parameter: ParameterLookup;
  readonly position: number;
  readonly fail: (problem: string) => Error;
}

const KILOMETERS_PER_MILE = 1.609_344;
const KILOMETERS_PER_DEGREE = (EARTH_RADIUS_KILOMETERS * Math.PI) / 180;

/** For each distance unit of the score: the number of kilometers that count as 1. */
const UNITS: Readonly<Record<string, number>> = {
  kilometers: 1,
  distance: 1,
  miles: KILOMETERS_PER_MILE,
  degrees: KILOMETERS_PER_DEGREE,
};

/** Maximum length of a function: names of fields are shorter. */
const MAX_FUNCTION = 300;

/** `{!geofilt}`, a circle, and `{!bbox}`, the box around it: `pt`, `d` in kilometers, `sfield`. */
export function readCircle(type: 'geofilt' | 'bbox', { local, parameter, position, fail }: SpaceQuery): Query {
  const distance: Distance = { field: spatialField(parameter), from: pointOf(`{!${type}}`, parameter) };
  const text = parameter('d');
  if (text === undefined || text === '') throw fail(`{!${type}} needs d=<kilometers>`);
  const kilometers = readNumber(text);
  if (kilometers === null || kilometers < 0) throw fail(`expected d=<kilometers>, 0 or more, found ${quote(text)}`);
  const area: Query =
    type === 'bbox'
      ? { kind: 'box', field: distance.field, center: distance.from, kilometers, position }
      : { kind: 'distance', distance, low: null, high: kilometers, includeLow: true, includeHigh: true, position };
  const query: Query = isFalse(local.get('filter')) ? { kind: 'all' } : area;
  const score = local.get('score') ?? 'none';
  if (score === 'none') return query;
  const unit = Object.hasOwn(UNITS, score) ? UNITS[score] : undefined;
  if (unit === undefined)
    throw fail(`score=${quote(score)} is not understood; known are none, ${Object.keys(UNITS).join(', ')}`);
  return { kind: 'by-distance', query, distance, unit, position };
}

/** `{!func}geodist()`: every document matches and scores by its distance. */
export function readFunction(value: string, { parameter, position, fail }: SpaceQuery): Query {
  const distance = parseGeodist(value, parameter);
  if (distance === null) throw fail(`the function ${quote(value)} is not understood; known is geodist()`);
  return { kind: 'by-distance', query: { kind: 'all' }, distance, unit: 1, position };
}

/** `{!frange l= u= incl= incu=}`: limits of a distance, or of the values of a field. */
export function readFunctionRange(value: string, { local, parameter, position, fail }: SpaceQuery): Query {
  const [low, high] = [local.get('l'), local.get('u')];
  const bounds = { includeLow: !isFalse(local.get('incl')), includeHigh: !isFalse(local.get('incu')), position };
  const distance = parseGeodist(value, parameter);
  if (distance !== null) return { kind: 'distance', distance, low: bound('l', low), high: bound('u', high), ...bounds };
  const field =
    value.length > MAX_FUNCTION ? null : /^\s*(?:field\(\s*([^()'",]+?)\s*\)|([^()'",\s]+))\s*$/.exec(value);
  const name = field?.[1] ?? field?.[2];
  if (name === undefined)
    throw fail(`the function ${quote(value)} is not understood; known are geodist() and the name of a field`);
  return { kind: 'range', field: name, low: low ?? null, high: high ?? null, ...bounds };

  function bound(key: string, text: string | undefined): number | null {
    if (text === undefined) return null;
    const number = readNumber(text);
    if (number === null) throw fail(`expected ${key}=<kilometers>, found ${quote(text)}`);
    return number;
  }
}

function readNumber(text: string): number | null {
  return /^\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?\s*$/.test(text) ? Number(text) : null;
}

function isFalse(text: string | undefined): boolean {
  return text !== undefined && /^(?:false|off|no|0)$/i.test(text);
}
