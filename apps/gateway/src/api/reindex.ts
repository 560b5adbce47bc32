import { randomUUID } from 'node:crypto';
import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, quote } from '@akin/domain';
import { beginReindex, findCollection, loadSchema, runReindex } from '@akin/store';
import { readFieldTypes } from '../collections/field-types.ts';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';

/** Reindexes a collection in the background of this process. If the process ends, the next request starts it again. */
export const reindex: Handler<ParametersOf<Endpoints['reindex']>> = async ({ parameters, access }, context) => {
  const { store, commit, wake } = context;
  const collection = await findCollection(store, parameters.collection);
  const types = readFieldTypes(parameters.field);
  const { fields } = await loadSchema(store, collection);
  const unknown = [...types.keys()].find((name) => !fields.has(name));
  if (unknown !== undefined) {
    throw new AkinError(
      'bad-request',
      `Parameter field: ${collection.name} has no field ${quote(unknown)} that could get another type.`,
    );
  }
  const { outputsFrom } = parameters;
  if (outputsFrom !== undefined && !access.allowsCollection(outputsFrom)) {
    throw new AkinError('forbidden', `This key is not for the collection ${quote(outputsFrom)}.`);
  }
  const pictures = outputsFrom === undefined ? undefined : await findCollection(store, outputsFrom);
  const worker = randomUUID();
  const target = await beginReindex(store, collection, worker, types);
  if (target !== undefined) {
    const { allowMissing } = parameters;
    context.background(`reindexing ${collection.name}`, async (signal) => {
      const work = { worker, allowMissing, outputsFrom: pictures, signal, wake, commit };
      await runReindex(store, collection, target, work);
    });
  }
  return { status: 202, body: { ...(await presentReindex(store, collection)), began: target !== undefined } };
};
