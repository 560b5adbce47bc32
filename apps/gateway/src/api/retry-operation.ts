import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, findOperation, retryFailed } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentOperation } from '../operations/present.ts';
import { seqOf } from '../operations/seq-of.ts';

export const retryOperation: Handler<ParametersOf<Endpoints['retryOperation']>> = async (
  { parameters },
  { store, wake },
) => {
  const collection = await findCollection(store, parameters.collection);
  const seq = seqOf(parameters.operation, collection.name);
  const { retried, superseded, conflicting } = await retryFailed(store, collection, { seq });
  const operation = await findOperation(store, collection, seq);
  if (retried + superseded === 0) {
    const msg =
      conflicting > 0
        ? 'A later atomic update has already changed this document: send the whole document again.'
        : `Only failed operations can be retried. This one is ${operation.state}.`;
    throw new AkinError('conflict', msg);
  }
  wake();
  return { body: presentOperation(collection, operation) };
};
