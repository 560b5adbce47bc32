import { constants } from 'node:fs';
import { cp, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testDatabase } from '@akin/testing';
import type { Engine } from '../src/engine/engine.ts';
import { openPglite } from '../src/engine/pglite.ts';
import { openPostgres } from '../src/engine/postgres.ts';

export const ENGINES = ['pglite', 'postgres'] as const;
export type EngineKind = (typeof ENGINES)[number];

export type TestPlace = { readonly folder: string } | { readonly databaseUrl: string };

/** An empty database of its own, and how to get rid of it. */
export async function testPlace(kind: EngineKind): Promise<{ place: TestPlace; remove: () => Promise<void> }> {
  if (kind === 'pglite') {
    const parent = await mkdtemp(join(tmpdir(), 'akin-store-'));
    const folder = join(parent, 'data');
    // Making a database costs seconds; copying one does not.
    await cp(await template(), folder, { recursive: true, mode: constants.COPYFILE_FICLONE });
    return { place: { folder }, remove: () => rm(parent, { recursive: true, force: true }) };
  }
  const database = await testDatabase();
  return { place: { databaseUrl: database.url }, remove: () => database.drop() };
}

export function openEngine(place: TestPlace): Promise<Engine> {
  return 'folder' in place ? openPglite(place.folder) : openPostgres(place.databaseUrl);
}

/** A freshly made data folder, shared by all test runs on the machine. */
async function template(): Promise<string> {
  const target = join(tmpdir(), 'akin-pglite-template-0.5.14');
  if (await exists(target)) return target;
  const folder = `${target}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await (await openPglite(folder))[Symbol.asyncDispose]();
  // Whoever comes second keeps the first one's.
  await rename(folder, target).catch(() => rm(folder, { recursive: true }));
  return target;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
