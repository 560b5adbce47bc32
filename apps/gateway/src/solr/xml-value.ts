import { JsonNumber, type JsonValue, parseLong } from '@akin/domain';

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

/**
 * The value that the text of an XML field stands for, as Solr guesses: all of it a boolean or a number, or a string.
 * Nothing is lost by it, since a String field takes the text of either again. A number is one in JSON's syntax that its
 * type can hold: `007` is no amount, and stays a string, as do digits beyond 64 bits.
 */
export function guessXmlValue(text: string): JsonValue {
  if (text === 'true') return true;
  if (text === 'false') return false;
  if (!NUMBER.test(text)) return text;
  const fits = /[.eE]/.test(text) ? Number.isFinite(Number(text)) : parseLong(text) !== null;
  return fits ? new JsonNumber(text) : text;
}
