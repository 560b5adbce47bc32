import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Field, FieldType } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** What each type means to a client: the type of one value, and whether a document may have several. */
const TYPES: Readonly<Record<FieldType, readonly [name: string, multiValued: boolean]>> = {
  boolean: ['boolean', false],
  long: ['long', false],
  double: ['double', false],
  date: ['date', false],
  string: ['string', false],
  strings: ['string', true],
  longs: ['long', true],
  doubles: ['double', true],
  location: ['location', false],
  text: ['text', true],
};

/** The fields of a collection with their types. */
export const schema: Handler<ParametersOf<Endpoints['schema']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const { fields } = await loadSchema(store, collection);
  return {
    body: { schema: { name: collection.name, uniqueKey: 'id', fields: [...fields.values()].map(presentField) } },
  };
};

export function presentField({ name, type, origin }: Field) {
  const [typeName, multiValued] = TYPES[type];
  return { name, type: typeName, multiValued, required: name === 'id', stored: type !== 'text', origin };
}
