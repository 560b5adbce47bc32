import type { Endpoints, ParametersOf } from '@akin/contract';
import { defineFields as define, findCollection, loadSchema } from '@akin/store';
import { readFieldTypes } from '../collections/field-types.ts';
import type { Handler } from '../http/serve.ts';
import { readSolrFields, refuseOtherCommands } from '../solr/add-field.ts';
import { presentField } from './schema.ts';

/** Gives fields their types before any document has them. */
export const defineFields: Handler<ParametersOf<Endpoints['defineFields']>> = async (
  { parameters, list },
  { store },
) => {
  refuseOtherCommands(list);
  const collection = await findCollection(store, parameters.collection);
  const { fields: known } = await loadSchema(store, collection);
  const fromSolr = readSolrFields(parameters['add-field'], known);
  await define(store, collection, new Map([...readFieldTypes(parameters.field), ...fromSolr]));
  // Solr answers its command with only the header.
  if (parameters['add-field'].length > 0) return { body: {} };
  const { fields } = await loadSchema(store, collection);
  return {
    body: { schema: { name: collection.name, uniqueKey: 'id', fields: [...fields.values()].map(presentField) } },
  };
};
