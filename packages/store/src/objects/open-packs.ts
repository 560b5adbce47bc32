import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import type { Engine } from '../engine/engine.ts';
import { openObjectStore } from './open-object-store.ts';
import { Packs } from './packs.ts';

/** An object with the id of the database that the objects belong to. */
const OWNER = 'akin-database';

/**
 * Opens the object store of a database. The first time, both get a common id: so a wrong store, or one of another
 * database, is noticed before anything is read, written, or deleted as garbage.
 *
 * @param location undefined if there is none
 * @throws AkinError conflict if the location is not that of the database; unavailable if it cannot be reached
 */
export async function openPacks(engine: Engine, location: string | undefined): Promise<Packs | undefined> {
  if (location === undefined) {
    if ((await ownId(engine)) === undefined) return undefined;
    throw new AkinError(
      'conflict',
      'Outputs and thumbnails of this database are in objects outside of it: start with --objects (AKIN_OBJECTS) and the same location as before.',
    );
  }
  const objects = await openObjectStore(location);
  try {
    const theirs = (await objects.get(OWNER))?.toString().trim();
    if (theirs !== undefined && theirs !== (await ownId(engine))) {
      throw new AkinError(
        'conflict',
        `${objects.location} contains objects of another database. Each database needs a separate location; a copy of a database needs a copy of its objects.`,
      );
    }
    if (theirs === undefined) await found(engine, objects);
    return new Packs(objects);
  } catch (error) {
    await objects[Symbol.asyncDispose]();
    throw error;
  }
}

type Objects = Packs['objects'];

/** Finishes an incomplete setup of an earlier process. The same happens if two start together. */
async function found(engine: Engine, objects: Objects): Promise<void> {
  const [pack] = await engine.query('select from akin.packs limit 1');
  if (pack !== undefined) {
    throw new AkinError(
      'conflict',
      `${objects.location} does not contain the objects of this database: they were in another location, or were not restored with it.`,
    );
  }
  await engine.transaction(async (tx) => {
    // Another process may do the same: one of them creates the id.
    await tx.query('lock table akin.object_store in share row exclusive mode');
    const made = await tx.query('select from akin.object_store');
    if (made.length === 0) await tx.query('insert into akin.object_store (id) values ($1)', [randomUUID()]);
  });
  await objects.put(OWNER, Buffer.from(`${await ownId(engine)}\n`));
}

async function ownId(engine: Engine): Promise<string | undefined> {
  const [row] = await engine.query<{ id: string }>('select id from akin.object_store limit 1');
  return row?.id;
}
