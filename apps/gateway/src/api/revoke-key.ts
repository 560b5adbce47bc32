import type { Endpoints, ParametersOf } from '@akin/contract';
import { readKeyText, revokeKey as revoke } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** The text of a key contains its id. */
export const revokeKey: Handler<ParametersOf<Endpoints['revokeKey']>> = async ({ parameters }, context) => {
  await revoke(context.store, readKeyText(parameters.id)?.id ?? parameters.id);
  await context.keyRing.reload();
  return { body: {} };
};
