import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../../test/shared-store.ts';
import { ENGINES } from '../../../test/support.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection, findCollection } from '../../database/collections/collections.ts';
import { dropCollection } from '../../maintenance/drop-collection.ts';
import { isSecretOf, readKeyText } from './key-text.ts';
import { createKey, listKeys, loadKeys, recordKeyUse, revokeKey } from './keys.ts';

describe.each(ENGINES)('keys on %s', (kind) => {
  let store: Store;

  sharedStore(kind, (opened) => {
    store = opened;
  });

  it('shows the text once and stores only a hash', async () => {
    const { key, text } = await createKey(store, { scope: 'index', note: 'nightly load' });
    const { id, secret } = readKeyText(text) as { id: string; secret: string };
    expect([key.id, key.scope, key.note, key.collections]).toEqual([id, 'index', 'nightly load', null]);
    const stored = (await loadKeys(store)).find((one) => one.id === id);
    expect(isSecretOf(stored?.hash as Uint8Array, secret)).toBe(true);
    expect(isSecretOf(stored?.hash as Uint8Array, `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`)).toBe(
      false,
    );
    const tables = await store.engine.query<{ row: string }>(`select row_to_json(k)::text as row from akin.keys k`);
    expect(JSON.stringify([tables, await listKeys(store)])).not.toContain(secret);
    expect(JSON.stringify(await listKeys(store))).not.toContain('hash');
  });

  it('stores the limits of a key', async () => {
    const expiresAt = new Date(Date.now() + 1_000_000);
    const origins = ['https://shop.example', 'http://localhost:3000'];
    const request = { scope: 'search', collections: ['my-collection'], origins, rate: 20, expiresAt } as const;
    const { key } = await createKey(store, request);
    expect(key).toMatchObject({ ...request, usedAt: null });
    expect((await listKeys(store)).find(({ id }) => id === key.id)).toEqual(key);
  });

  it('stores origins as browsers send them', async () => {
    const origins = ['https://Shop.example:443/', 'http://localhost:80', 'https://bücher.example'];
    const { key } = await createKey(store, { scope: 'search', origins });
    expect(key.origins).toEqual(['https://shop.example', 'http://localhost', 'https://xn--bcher-kva.example']);
  });

  it('is revoked permanently', async () => {
    const { key } = await createKey(store, { scope: 'admin' });
    await revokeKey(store, key.id);
    expect((await listKeys(store)).map(({ id }) => id)).not.toContain(key.id);
    await expect(revokeKey(store, key.id)).rejects.toMatchObject({ code: 'not-found' });
    await expect(revokeKey(store, "' or true --")).rejects.toMatchObject({ code: 'not-found' });
  });

  it('records a use once per hour', async () => {
    const { key } = await createKey(store, { scope: 'search' });
    const usedAt = async () => (await listKeys(store)).find(({ id }) => id === key.id)?.usedAt;
    await recordKeyUse(store, key.id);
    const first = await usedAt();
    expect(first).toBeInstanceOf(Date);
    await recordKeyUse(store, key.id);
    expect(await usedAt()).toEqual(first);
    await store.engine.query(`update akin.keys set used_at = now() - interval '2 hours' where id = $1`, [key.id]);
    await recordKeyUse(store, key.id);
    expect((await usedAt())?.getTime()).toBeGreaterThanOrEqual((first as Date).getTime());
  });

  it('gives no access to a later collection of the same name', async () => {
    await createCollection(store, 'tenant');
    const { key } = await createKey(store, { scope: 'index', collections: ['tenant', 'my-collection'] });
    const { key: alone } = await createKey(store, { scope: 'index', collections: ['tenant'] });
    await dropCollection(store, await findCollection(store, 'tenant'));
    await createCollection(store, 'tenant');
    const keys = new Map((await listKeys(store)).map((one) => [one.id, one.collections]));
    expect([keys.get(key.id), keys.get(alone.id)]).toEqual([['my-collection'], []]);
  });

  it.each([
    [{ scope: 'index', origins: ['https://shop.example'] }, 'scope must be search'],
    [{ scope: 'search', origins: ['https://shop.example/path'] }, 'is not an origin'],
    [{ scope: 'search', origins: ['https://shop.example?'] }, 'is not an origin'],
    [{ scope: 'search', origins: ['https://me@shop.example'] }, 'is not an origin'],
    [{ scope: 'search', origins: ['*'] }, 'is not an origin'],
    [{ scope: 'search', origins: ['null'] }, 'is not an origin'],
    [{ scope: 'search', origins: ['javascript://x'] }, 'is not an origin'],
    [{ scope: 'search', collections: [] }, '1 to 1000 collections'],
    [{ scope: 'search', collections: ['nowhere'] }, 'no collection "nowhere"'],
    [{ scope: 'search', note: 'a\nb' }, 'one line'],
    [{ scope: 'search', rate: 0 }, 'rate'],
    [{ scope: 'search', rate: 1.5 }, 'rate'],
    [{ scope: 'search', expiresAt: new Date(0) }, 'is over'],
  ] as const)('refuses %p', async (request, message) => {
    await expect(createKey(store, request)).rejects.toThrow(message);
  });
});

describe('the text of a key', () => {
  it.each([
    '',
    'akin_',
    `akin_${'a'.repeat(12)}_${'g'.repeat(64)}`,
    `akin_${'a'.repeat(12)}_${'0'.repeat(63)}`,
    `xakin_${'a'.repeat(12)}_${'0'.repeat(64)}`,
    `akin_${'a'.repeat(12)}_${'0'.repeat(64)}\n`,
  ])('is not %p', (text) => {
    expect(readKeyText(text)).toBeUndefined();
  });
});
