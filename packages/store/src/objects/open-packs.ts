import { randomUUID } from 'node:crypto';
import { AkinError } from '@akin/domain';
import type { Engine } from '../engine/engine.ts';
import { openObjectStore } from './open-object-store.ts';
import { Packs } from './packs.ts';

/** An object with the id of the database whose objects they are. */
const OWNER = 'akin-database';

/**
 * Opens the place of the objects of a database. The first time, the two get an id together: a place that was mistyped,
 * or is of another database, is noticed before anything is read from it, written, or deleted as garbage.
 *
 * @param place undefined where there is none
 * @throws AkinError conflict when the place is not that of the database; unavailable when it cannot be reached
 */
export async function openPacks(engine: Engine, place: string | undefined): Promise<Packs | undefined> {
  if (place === undefined) {
    if ((await ownId(engine)) === undefined) return undefined;
    throw new AkinError(
      'conflict',
      'Outputs and thumbnails of this database are in objects outside of it: start with --objects (AKIN_OBJECTS) and the same place as before.',
    );
  }
  const objects = await openObjectStore(place);
  try {
    const theirs = (await objects.get(OWNER))?.toString().trim();
    if (theirs !== undefined && theirs !== (await ownId(engine))) {
      throw new AkinError(
        'conflict',
        `${objects.place} holds objects of another database. Give each database a place of its own; a copy of a database needs a copy of its objects.`,
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

/** What a process before left here unfinished is finished; so it is where two begin together. */
async function found(engine: Engine, objects: Objects): Promise<void> {
  const [pack] = await engine.query('select from akin.packs limit 1');
  if (pack !== undefined) {
    throw new AkinError(
      'conflict',
      `${objects.place} does not hold the objects of this database: they were in another place, or were not restored with it.`,
    );
  }
  await engine.transaction(async (tx) => {
    // Another process may be here too: one of them makes the id.
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
