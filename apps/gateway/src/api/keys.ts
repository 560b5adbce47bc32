import { badRequest, parseExpiry, withErrorContext } from '@akin/domain';
import { createKey as create, type Key, listKeys, revokeKey as revoke } from '@akin/store/search';
import type { Handler, HandlerFor } from '../http/serve.ts';

export const keys: Handler<unknown> = async (_call, { store }) => ({
  body: { keys: (await listKeys(store)).map(presentKey) },
});

export function presentKey(key: Key) {
  const { id, scope, note, collections, origins, rate, filter, set, createdAt, expiresAt, usedAt } = key;
  return { id, scope, note, collections, origins, rate, filter, set, createdAt, expiresAt, usedAt };
}

export const createKey: HandlerFor<'createKey'> = async ({ parameters, list }, context) => {
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
    throw badRequest(`${limit} is empty: give a value, or leave it out for a key without this limit.`);
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

export const revokeKey: HandlerFor<'revokeKey'> = async ({ parameters }, context) => {
  await revoke(context.store, parameters.id);
  await context.keyRing.reload();
  return { body: {} };
};
