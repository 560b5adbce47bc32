import path from 'node:path';
import type { Key, NewKey } from '@akin/client';
import { AkinError, parseExpiry } from '@akin/domain';
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, parseOutputs } from '@akin/modules/vectors';
import { openStore } from '@akin/store';
import type { Store } from '@akin/store/changes';
import { createKey, listKeys, revokeKey } from '@akin/store/search';
import { openDataFolder, printToStandardError } from './data-folder.ts';
import { UsageError } from './options.ts';

/** Where keys are created, listed and revoked: in a store that no other process uses, or by a running akin. */
export interface Keys {
  create(key: NewKey): Promise<{ id: string; text: string }>;
  list(): Promise<Key[]>;
  revoke(id: string): Promise<void>;
}

/**
 * The keys of a store that this process opens for them: the embedded one, or the database of a fleet, which may run.
 * @throws UsageError if akin serves from it
 */
export async function openKeys(
  location: { readonly databaseUrl: string } | { readonly folder: string },
): Promise<Keys & AsyncDisposable> {
  if ('folder' in location) await openDataFolder(path.dirname(location.folder), printToStandardError);
  const store = await open(location);
  return {
    async create({ expires, ...request }) {
      const expiresAt = expires === undefined ? {} : { expiresAt: parseExpiry(expires) };
      const { key, text } = await createKey(store, { ...request, ...expiresAt });
      return { id: key.id, text };
    },
    list: async () =>
      (await listKeys(store)).map(({ collections, origins, set, createdAt, expiresAt, usedAt, ...key }) => ({
        ...key,
        collections: collections && [...collections],
        origins: [...origins],
        set: [...set],
        createdAt: createdAt.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        usedAt: usedAt?.toISOString() ?? null,
      })),
    revoke: (id) => revokeKey(store, id),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

async function open(location: { readonly databaseUrl: string } | { readonly folder: string }): Promise<Store> {
  const shared = 'databaseUrl' in location ? { shared: true } : {};
  try {
    return await openStore({
      modules: MODULES,
      parseOutputs,
      descriptorTexts,
      ...location,
      ...shared,
      warn: printToStandardError,
    });
  } catch (error) {
    if (!(error instanceof AkinError) || error.code !== 'conflict') throw error;
    throw new UsageError(
      `${error.message}\nIf akin serves from it, add --url with its URL. If that akin requires keys, also set AKIN_KEY to a key with the scope admin.`,
    );
  }
}
