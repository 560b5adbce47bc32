import { badRequest } from './errors.ts';
import { parseLocation } from './location.ts';
import type { Location } from './schema.ts';
import { quote } from './text.ts';

/** The distance of documents from a place: kilometers along the great circle. */
export interface Distance {
  /** A field of type location. */
  readonly field: string;
  readonly from: Location;
}

/** Looks up a parameter of the request that a query may refer to (`pt`, `sfield`, `$name`). */
export type ParameterLookup = (name: string) => string | undefined;

/** The mean earth radius that Lucene and Solr use. */
export const EARTH_RADIUS_KILOMETERS = 6_371.008_771_4;

/** The field used when neither the query nor the request names one. */
const DEFAULT_FIELD = 'location';

/**
 * Reads the function `geodist()`. The place comes as two numbers, or from `pt`; the field by its name, or from
 * `sfield`, or is `location`: `geodist()`, `geodist(location)`, `geodist(48.1,11.5)`, `geodist(location,48.1,11.5)`,
 * `geodist(48.1,11.5,location)`.
 *
 * @returns null when the text is not a call of geodist
 * @throws AkinError bad-request that says what is missing or wrong
 */
export function parseGeodist(text: string, parameter: ParameterLookup): Distance | null {
  const call = /^\s*geodist\s*\(([^()]*)\)\s*$/.exec(text);
  if (call === null) return null;
  const args = (call[1] ?? '').split(',').map((arg) => arg.trim());
  const values = args.length === 1 && args[0] === '' ? [] : args;
  const numbers = values.filter(isNumber);
  const names = values.filter((arg) => !isNumber(arg));
  const inPlace = values.length < 3 || isNumber(values[1] as string);
  if (![0, 2].includes(numbers.length) || names.length > 1 || names[0] === '' || !inPlace) {
    throw badRequest(
      `geodist takes a field, a latitude and a longitude: geodist(field,lat,lon). Without the field, sfield gives it; without the numbers, pt gives them. Found ${quote(text.trim())}.`,
    );
  }
  const field = names[0] ?? spatialField(parameter);
  return {
    field,
    from: numbers.length === 2 ? readPoint('geodist', numbers.join(',')) : pointOf('geodist()', parameter),
  };
}

/** The parameter `sfield`, or the preconfigured field. */
export function spatialField(parameter: ParameterLookup): string {
  return parameter('sfield') || DEFAULT_FIELD;
}

/** Reads the parameter `pt`. @throws AkinError bad-request when it is missing or not a place */
export function pointOf(what: string, parameter: ParameterLookup): Location {
  const text = parameter('pt');
  if (text !== undefined && text !== '') return readPoint('pt', text);
  throw badRequest(`${what} needs pt=<latitude>,<longitude>.`);
}

function readPoint(name: string, text: string): Location {
  const place = parseLocation(text);
  if (place !== null) return place;
  throw badRequest(
    `${name} is a place: latitude and longitude in degrees with a comma between, such as 48.1,11.5; found ${quote(text)}.`,
  );
}

function isNumber(text: string): boolean {
  return /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$/.test(text);
}
