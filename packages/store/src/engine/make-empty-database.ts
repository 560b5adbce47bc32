// The last step of the build: makes the database with which every embedded store begins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_DATABASE, packDatabase } from './empty-database.ts';
import { PgliteSession } from './pglite-session.ts';
import { PgliteThread } from './pglite-thread.ts';

const CLOSE_MILLISECONDS = 60_000;

const folder = mkdtempSync(join(tmpdir(), 'akin-empty-'));
try {
  const dataDirectory = join(folder, 'pg');
  // PGlite creates what is missing. Its files are complete when it is closed.
  await (await PgliteThread.start({ dataDirectory })).close(CLOSE_MILLISECONDS);
  const session = await PgliteSession.open(dataDirectory);
  // Nobody creates further databases. Without these, a folder has 370 files instead of 970, and 15 MB less.
  for (const template of ['template0', 'template1']) {
    await session.limited().query(`alter database ${template} is_template false`);
    await session.limited().query(`drop database ${template}`);
  }
  await session.thread.close(CLOSE_MILLISECONDS);
  writeFileSync(EMPTY_DATABASE, packDatabase(dataDirectory));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
