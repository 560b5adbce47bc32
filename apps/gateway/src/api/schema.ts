import type { Endpoints, ParametersOf } from '@akin/contract';
import { elementType, type Field, isListType } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store';
import type { Handler } from '../http/serve.ts';

export const schema: Handler<ParametersOf<Endpoints['schema']>> = async ({ parameters }, { store }) => {
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
