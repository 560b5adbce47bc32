import { elementType, type Field, isListType } from '@akin/domain';
import { defineFields as define, findCollection, loadSchema } from '@akin/store/database';
import { readFieldTypes } from '../collections/field-types.ts';
import type { HandlerFor } from '../http/serve.ts';
import { readSolrFields, refuseOtherCommands } from '../solr/add-field.ts';
import { requireSetFields } from '../update/limit-to-key.ts';

export const schema: HandlerFor<'schema'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const { fields } = await loadSchema(store, collection);
  return {
    body: { schema: { name: collection.name, uniqueKey: 'id', fields: [...fields.values()].map(presentField) } },
  };
};

export function presentField({ name, type, origin }: Field) {
  const multiValued = type === 'text' || isListType(type);
  return { name, type: elementType(type), multiValued, required: name === 'id', stored: type !== 'text', origin };
}

export const defineFields: HandlerFor<'defineFields'> = async ({ parameters, list }, { store }) => {
  refuseOtherCommands(list);
  if (store.keyFilter) requireSetFields(store.keyFilter);
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
