import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServices } from '@akin/testing';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import pg from 'pg';

/**
 * Creates temporary storage for akin's data in one of its two databases. Closing it deletes the data.
 *
 * @param {'pglite' | 'postgres'} engine
 */
export async function createDatabase(engine) {
  const folder = await mkdtemp(join(tmpdir(), 'akin-bench-'));
  const services = createServices();
  const databaseUrl = engine === 'postgres' ? await services.postgres() : undefined;
  return {
    engine,
    folder,
    /** The flags of `akin serve`. */
    args: ['--data', folder, ...(databaseUrl ? ['--database-url', databaseUrl] : [])],
    /**
     * Opens the same database without akin. On PostgreSQL this is another connection. On PGlite it is a copy of the
     * data, which is made while akin is stopped.
     */
    openBare: () => openEngine({ folder, databaseUrl }),
    async close() {
      await services[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens akin's database without akin. */
export const openEngine = ({ folder, databaseUrl }) =>
  databaseUrl ? openBarePostgres(databaseUrl) : openBarePglite(folder);

async function openBarePostgres(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    query: async (sql, params) => (await client.query(sql, params)).rows,
    close: () => client.end(),
  };
}

async function openBarePglite(folder) {
  const copy = `${folder}-bare`;
  await cp(pgliteFolder(folder), copy, { recursive: true });
  const db = await PGlite.create({ dataDir: copy, extensions: { vector } });
  return {
    query: async (sql, params) => (await db.query(sql, params)).rows,
    async close() {
      await db.close();
      await rm(copy, { recursive: true, force: true });
    },
  };
}

/** The folder of PGlite's files in akin's data folder. */
export const pgliteFolder = (folder) => join(folder, 'database', 'pg');
