import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, parseExpiry, withErrorContext } from '@akin/domain';
import { createKey as create } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentKey } from './keys.ts';

/** Creates a key and returns its text, only this once. */
export const createKey: Handler<ParametersOf<Endpoints['createKey']>> = async ({ parameters, list }, context) => {
  const { scope, note, rate, expires } = parameters;
  const collections = listed(parameters.collections);
  // A key for all collections must not be the result of a list that came out empty.
  if (collections.length === 0 && list.some(([name]) => name === 'collections')) {
    throw new AkinError('bad-request', 'collections is empty: name some, or leave it out for a key to all.');
  }
  const { key, text } = await create(context.store, {
    scope,
    note,
    origins: listed(parameters.origins),
    ...(collections.length > 0 ? { collections } : {}),
    ...(rate === undefined ? {} : { rate }),
    ...(expires === undefined ? {} : { expiresAt: withErrorContext('expires', () => parseExpiry(expires)) }),
  });
  await context.keyRing.reload();
  return { status: 201, body: { ...presentKey(key), key: text } };
};

function listed(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((part) => part.trim())).filter(Boolean);
}
