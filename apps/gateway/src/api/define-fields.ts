import type { Endpoints, ParametersOf } from '@akin/contract';
import { defineFields as define, findCollection, loadSchema } from '@akin/store';
import { readFieldTypes } from '../collections/field-types.ts';
import type { Handler } from '../http/frame.ts';
import { presentField } from './schema.ts';

/** Gives fields their types before any document has them. */
export const defineFields: Handler<ParametersOf<Endpoints['defineFields']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  await define(store, collection, readFieldTypes(parameters.field));
  const { fields } = await loadSchema(store, collection);
  return {
    body: { schema: { name: collection.name, uniqueKey: 'id', fields: [...fields.values()].map(presentField) } },
  };
};
