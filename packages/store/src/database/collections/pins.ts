import { AkinError } from '@akin/domain';
import type { Engine } from '../engine/engine.ts';
import { goneError } from './swap.ts';

interface Store {
  readonly engine: Engine;
}

interface Collection {
  readonly id: number;
  readonly name: string;
}

/** A reader that continues renews it with each page. */
const KEPT_SECONDS = 600;

export interface Pin {
  readonly id: number;
  readonly commit: bigint;
}

/**
 * Keeps all rows of the last commit, until the pin is removed or was not renewed for ten minutes.
 *
 * @throws AkinError not-found if the collection was dropped
 */
export async function pinCommit(store: Store, collection: Collection): Promise<Pin> {
  const [row] = await store.engine.query<{ id: bigint; commit: bigint }>(
    `insert into akin.pins (collection, commit, expires_at)
     select id, commit, now() + interval '${KEPT_SECONDS} seconds' from akin.collections where id = $1
     returning id, commit`,
    [collection.id],
  );
  if (row === undefined) throw goneError(collection);
  return { id: Number(row.id), commit: row.commit };
}

/** @returns false if it is gone, and perhaps the rows that it kept */
export async function renewPin(store: Store, collection: Collection, pin: Pin): Promise<boolean> {
  const rows = await store.engine.query(
    `update akin.pins set expires_at = now() + interval '${KEPT_SECONDS} seconds'
      where id = $1 and collection = $2 and commit = $3 and expires_at > now() returning id`,
    [pin.id, collection.id, pin.commit],
  );
  return rows.length > 0;
}

/**
 * Moves the pin to a later commit, or renews it for the same commit.
 *
 * @throws AkinError conflict if the pin is gone, and perhaps rows that it kept
 */
export async function movePin(store: Store, pin: Pin, commit: bigint): Promise<Pin> {
  const moved = await store.engine.query(
    `update akin.pins set commit = $2, expires_at = now() + interval '${KEPT_SECONDS} seconds'
      where id = $1 and expires_at > now() returning id`,
    [pin.id, commit],
  );
  if (moved.length === 0) {
    throw new AkinError('conflict', 'It was interrupted for more than ten minutes, and may lack changes: start again.');
  }
  return { ...pin, commit };
}

export async function removePin(store: Store, pin: Pin): Promise<void> {
  await store.engine.query('delete from akin.pins where id = $1 or expires_at < now()', [pin.id]);
}
