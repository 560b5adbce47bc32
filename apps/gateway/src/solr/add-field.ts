import { REFUSED_SCHEMA_COMMANDS } from '@akin/contract';
import {
  type AkinError,
  badRequest,
  elementType,
  type Field,
  type FieldType,
  JsonObject,
  listOf,
  parseJson,
  quote,
  withErrorContext,
} from '@akin/domain';
import type { ParameterList } from '../parameters/parameters.ts';

/** The types of Solr's default configuration that akin supports, by the type of the field that they define. */
const TYPES: ReadonlyMap<FieldType, readonly string[]> = new Map<FieldType, readonly string[]>([
  ['boolean', ['boolean', 'bool']],
  ['long', ['pint', 'plong', 'int', 'long', 'tint', 'tlong']],
  ['double', ['pfloat', 'pdouble', 'float', 'double', 'tfloat', 'tdouble']],
  ['date', ['pdate', 'date', 'tdate']],
  // Strings can be searched by words as well as texts.
  ['string', ['string', 'text_general', 'text_en', 'text_ws']],
  ['location', ['location']],
]);

/** Types of lists in that configuration. */
const PLURAL = /^(strings|booleans|p(int|long|float|double|date)s)$/;

/**
 * Reads field definitions of Solr clients: `{"name": …, "type": …, "multiValued": …}`. Other attributes (`stored`,
 * `indexed`, …) are true for every field. Fields that already exist with that type are left out.
 *
 * @param texts one JSON object each
 * @param known the fields of the collection
 * @throws AkinError bad-request that names the field and what is possible
 */
export function readSolrFields(
  texts: readonly string[],
  known: ReadonlyMap<string, Pick<Field, 'type' | 'origin'>>,
): Map<string, FieldType> {
  const types = new Map<string, FieldType>();
  for (const text of texts) {
    const { name, type, multiValued } = readDefinition(text);
    const there = known.get(name);
    if (there && there.origin !== 'document' && elementType(there.type) === type) continue;
    if (type === 'location') {
      throw unsupportedCommandError(
        `the field ${quote(name)} cannot be a location: every collection has one, the field "location"`,
      );
    }
    const list = listOf(type);
    if (multiValued && list === undefined) {
      throw unsupportedCommandError(`the field ${quote(name)} cannot be multiValued: there are no lists of booleans`);
    }
    types.set(name, multiValued && list !== undefined ? list : type);
  }
  return types;
}

function readDefinition(text: string): { name: string; type: FieldType; multiValued: boolean } {
  const value = withErrorContext('add-field', () => parseJson(text));
  if (!(value instanceof JsonObject))
    throw unsupportedCommandError('a field is an object: {"name": "price", "type": "pdouble"}');
  const [name, solrType] = [value.get('name'), value.get('type')];
  if (typeof name !== 'string' || name === '') throw unsupportedCommandError('a field needs a name, which is a text');
  const isPlural = typeof solrType === 'string' && PLURAL.test(solrType);
  const single = isPlural ? solrType.slice(0, -1) : solrType;
  const type = [...TYPES].find(([, names]) => names.includes(single as string))?.[0];
  if (type === undefined) {
    const shown = typeof solrType === 'string' ? `the type ${quote(solrType)}` : 'no type';
    const possible = [...TYPES.values()].flat().join(', ');
    throw unsupportedCommandError(`the field ${quote(name)} has ${shown}; akin supports ${possible}`);
  }
  const says = (key: string) => value.get(key) === true || value.get(key) === 'true';
  if ((says('required') && name !== 'id') || (value.get('default') ?? null) !== null) {
    throw unsupportedCommandError(
      `the field ${quote(name)} cannot be required or have a default: a document has only the values that were sent, and only "id" is required`,
    );
  }
  // As in Solr, the attribute wins over the type.
  const isSingle = [false, 'false'].includes(value.get('multiValued') as boolean | string);
  return { name, type, multiValued: says('multiValued') || (isPlural && !isSingle) };
}

/** @throws AkinError bad-request for a command to a schema of Solr that akin does not have */
export function refuseOtherCommands(list: ParameterList): void {
  for (const [command, instead] of Object.entries(REFUSED_SCHEMA_COMMANDS)) {
    if (list.some(([name]) => name === command)) throw badRequest(`${command} is not possible here: ${instead}.`);
  }
}

function unsupportedCommandError(why: string): AkinError {
  return badRequest(`add-field: ${why}.`);
}
