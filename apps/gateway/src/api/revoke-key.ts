import type { Endpoints, ParametersOf } from '@akin/contract';
import { readKeyText, revokeKey as revoke } from '@akin/store';
import type { Handler } from '../http/frame.ts';

/** Revokes a key by its id; whoever has the key alone finds the id in it. */
export const revokeKey: Handler<ParametersOf<Endpoints['revokeKey']>> = async ({ parameters }, context) => {
  await revoke(context.store, readKeyText(parameters.id)?.id ?? parameters.id);
  await context.keyRing.reload();
  return { body: {} };
};
