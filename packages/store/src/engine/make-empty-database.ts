// The last step of the build: makes the database with which every embedded store begins.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_DATABASE, packDatabase } from './empty-database.ts';
import { PgliteThread } from './pglite-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'akin-empty-'));
try {
  const dataDirectory = join(folder, 'pg');
  // PGlite creates what is missing. Its files are complete when it is closed.
  const thread = await PgliteThread.start({ dataDirectory });
  await thread.close(60_000);
  writeFileSync(EMPTY_DATABASE, packDatabase(dataDirectory));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
