import { type Key, listKeys } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** All keys, without their secrets. */
export const keys: Handler<unknown> = async (_call, { store }) => ({
  body: { keys: (await listKeys(store)).map(presentKey) },
});

export function presentKey(key: Key) {
  const { id, scope, note, collections, origins, rate, filter, set, createdAt, expiresAt, usedAt } = key;
  return { id, scope, note, collections, origins, rate, filter, set, createdAt, expiresAt, usedAt };
}
