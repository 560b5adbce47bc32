import { JsonNumber, type JsonValue, parseLong } from '@akin/domain';

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * The value of the text of an XML field, as Solr guesses it: a boolean or a number if the whole text is one, or else a
 * string. Nothing is lost, because a String field stores the text of both. A number is one in JSON's syntax that fits
 * its type: `007` stays a string, as do digits beyond 64 bits.
 */
export function guessXmlValue(text: string): JsonValue {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (!NUMBER.test(text)) return text;
  const fits = /[.eE]/.test(text) ? Number.isFinite(Number(text)) : parseLong(text) !== null;
  return fits ? new JsonNumber(text) : text;
}
