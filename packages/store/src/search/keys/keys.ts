import { AkinError, parseUrl, quote, type Scope, withErrorContext } from '@akin/domain';
import { listCollections } from '../../database/collections/collections.ts';
import { textArray } from '../../database/engine/binary.ts';
import type { SearchStore } from '../context.ts';
import { matchesAllWith, parseKeyFilter, readSetFields } from './key-filter.ts';
import { makeKeyText, readKeyText } from './key-text.ts';

export interface Key {
  /** The part that is not secret. */
  readonly id: string;
  readonly scope: Scope;
  /** Owner and purpose. */
  readonly note: string;
  /** The collections that it may use. Null: all, including future ones. */
  readonly collections: readonly string[] | null;
  /** Only web pages of these origins may use it. */
  readonly origins: readonly string[];
  /** Maximum number of requests per second. Null: the default of the gateway. */
  readonly rate: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** The only documents that it may see, as a query. Null: all. */
  readonly filter: string | null;
  /** Fields that each document it writes gets, as `field=value`. */
  readonly set: readonly string[];
  /** Rounded to the hour. Null: never. */
  readonly usedAt: Date | null;
}

/** A key with the hash that proves its secret. */
export interface StoredKey extends Key {
  readonly hash: Uint8Array;
}

export interface NewKey {
  readonly scope: Scope;
  readonly note?: string;
  readonly collections?: readonly string[];
  readonly origins?: readonly string[];
  readonly rate?: number;
  readonly expiresAt?: Date;
  readonly filter?: string;
  readonly set?: readonly string[];
}

/** Maximum number of keys, because gateways keep all of them in memory. */
const MAX_KEYS = 10_000;
const MAX_NAMES = 1_000;
const LONGEST_NOTE = 200;
const COLUMNS = `id, hash, scope, note, collections, origins, rate, created_at as "createdAt", expires_at as "expiresAt", filter,
  set_fields as "set", used_at as "usedAt"`;
/** Resolution of the last use: each key costs one write per this time. */
export const LAST_USE_RESOLUTION_MILLISECONDS = 3_600_000;

/**
 * The text of the key is returned only here: the store keeps a hash of it.
 *
 * @throws AkinError bad-request; not-found for a collection that does not exist; conflict if there are too many keys
 */
export async function createKey(
  store: SearchStore,
  request: NewKey,
): Promise<{ readonly key: Key; readonly text: string }> {
  const { scope, note = '', rate, expiresAt, filter, set = [] } = request;
  const origins = [...new Set((request.origins ?? []).map(readOrigin))];
  const collections = request.collections && [...new Set(request.collections)];
  check(
    note.length <= LONGEST_NOTE && !/\p{Cc}/u.test(note),
    `A note is one line of at most ${LONGEST_NOTE} characters.`,
  );
  check(origins.length <= MAX_NAMES, `A key has at most ${MAX_NAMES} origins.`);
  check(
    origins.length === 0 || scope === 'search',
    'A key for web pages is seen by everybody who visits them: its scope must be search.',
  );
  check(rate === undefined || (Number.isInteger(rate) && rate >= 1 && rate <= 1_000_000), 'A rate is 1 to 1000000.');
  check(expiresAt === undefined || expiresAt.getTime() > Date.now(), 'That time is over: give a later one.');
  checkFilter(scope, filter, set);
  if (collections) await requireCollections(store, collections);
  const { id, text, hash } = makeKeyText();
  const [key] = await store.engine.query<StoredKey>(
    `insert into akin.keys (id, hash, scope, note, collections, origins, rate, expires_at, filter, set_fields)
     select $1, $2, $3, $4, $5::text[], $6::text[], $7, $8, $9, $10::text[]
      where (select count(*) from akin.keys) < ${MAX_KEYS} returning ${COLUMNS}`,
    [
      id,
      hash,
      scope,
      note,
      collections ? textArray(collections) : null,
      textArray(origins),
      rate ?? null,
      expiresAt ?? null,
      filter ?? null,
      textArray(set),
    ],
  );
  if (key === undefined) throw new AkinError('conflict', `There are ${MAX_KEYS} keys: revoke unused ones.`);
  return { key: withoutHash(key), text };
}

export async function listKeys(store: SearchStore): Promise<Key[]> {
  return (await loadKeys(store)).map(withoutHash);
}

/** All keys with their hashes, oldest first. */
export async function loadKeys(store: SearchStore): Promise<StoredKey[]> {
  return store.engine.query<StoredKey>(`select ${COLUMNS} from akin.keys order by created_at, id`);
}

/** @param named its id, or its text, which contains the id @throws AkinError not-found */
export async function revokeKey(store: SearchStore, named: string): Promise<void> {
  const id = readKeyText(named)?.id ?? named;
  const rows = await store.engine.query('delete from akin.keys where id = $1 returning id', [id]);
  if (rows.length > 0) return;
  throw new AkinError('not-found', `There is no key ${quote(id)}: /api/keys lists all by their ids.`);
}

/** Records the use of a key, at most once per hour. */
export async function recordKeyUse(store: SearchStore, id: string): Promise<void> {
  await store.engine.query(
    `update akin.keys set used_at = now()
      where id = $1 and (used_at is null or used_at < now() - interval '1 millisecond' * $2)`,
    [id, LAST_USE_RESOLUTION_MILLISECONDS],
  );
}

/** A document that the key writes must be inside, or the key could change what it may not see. */
function checkFilter(scope: Scope, filter: string | undefined, set: readonly string[]): void {
  if (filter === undefined) {
    check(set.length === 0, 'set is for keys with a filter: give both.');
    return;
  }
  const query = withErrorContext('filter', () => parseKeyFilter(filter));
  check(scope !== 'admin', 'A key with a filter has the scope search or index: an admin sees everything.');
  check(set.length === 0 || scope === 'index', 'A key that sets fields writes documents: its scope must be index.');
  const fields = readSetFields(set);
  check(
    set.length === 0 || matchesAllWith(query, fields),
    `Every document with the fields of set must match the filter, whatever else it holds, such as filter=tenant:a with set=tenant=a: ${quote(filter)} does not follow from ${set.map(quote).join(', ')}.`,
  );
}

/** A typing error in a name would create a key that allows nothing, or something else later. */
async function requireCollections(store: SearchStore, names: readonly string[]): Promise<void> {
  check(names.length >= 1 && names.length <= MAX_NAMES, `A key is for 1 to ${MAX_NAMES} collections, or for all.`);
  const existing = new Set((await listCollections(store)).map(({ name }) => name));
  const missing = names.find((name) => !existing.has(name));
  if (missing === undefined) return;
  throw new AkinError('not-found', `There is no collection ${quote(missing)}: create it before its key.`);
}

/** @returns as browsers send it: without the usual port, international hosts in Punycode */
function readOrigin(text: string): string {
  const url = parseUrl(text);
  check(
    url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`,
    `An origin is a scheme, a host and an optional port, such as https://shop.example; ${quote(text)} is not an origin.`,
  );
  return (url as URL).origin;
}

function check(right: boolean, message: string): void {
  if (!right) throw new AkinError('bad-request', message);
}

function withoutHash({ hash: _, ...key }: StoredKey): Key {
  return key;
}
