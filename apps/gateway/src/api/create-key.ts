import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, parseExpiry, withErrorContext } from '@akin/domain';
import { createKey as create } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentKey } from './keys.ts';

/** Creates a key and returns its text, only this once. */
export const createKey: Handler<ParametersOf<Endpoints['createKey']>> = async ({ parameters, list }, context) => {
  const { scope, note, rate, expires } = parameters;
  const collections = listed(parameters.collections);
  const origins = listed(parameters.origins);
  const { filter, set } = parameters;
  // A key without a limit must not be the result of a value that came out empty.
  const limits = {
    collections: collections.length > 0,
    origins: origins.length > 0,
    expires: expires !== undefined,
    filter: filter !== undefined,
    set: set.length > 0,
  };
  for (const [limit, isSet] of Object.entries(limits)) {
    if (isSet || !list.some(([name]) => name === limit)) continue;
    throw new AkinError(
      'bad-request',
      `${limit} is empty: give a value, or leave it out for a key without this limit.`,
    );
  }
  const { key, text } = await create(context.store, {
    scope,
    note,
    origins,
    ...(collections.length > 0 ? { collections } : {}),
    ...(rate === undefined ? {} : { rate }),
    ...(filter === undefined ? {} : { filter }),
    set,
    ...(expires === undefined ? {} : { expiresAt: withErrorContext('expires', () => parseExpiry(expires)) }),
  });
  await context.keyRing.reload();
  return { status: 201, body: { ...presentKey(key), key: text } };
};

function listed(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.split(',').map((part) => part.trim())).filter(Boolean);
}
