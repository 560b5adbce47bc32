// npm run empty-database, in packages/store after `npm run build`: makes the database with which every embedded store
// begins, and writes it as empty-database.br. A PGlite with another major version of PostgreSQL needs it.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { PgliteSession } from '../../packages/store/dist/database/engine/pglite-session.js';
import { PgliteThread } from '../../packages/store/dist/database/engine/pglite-thread.js';

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
  writeFileSync(resolve('empty-database.br'), packed(dataDirectory));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** A data directory in one piece, as `unpackEmptyDatabase` reads it. */
function packed(directory) {
  const directories = [];
  const files = [];
  const contents = [];
  const read = (below) => {
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      const name = `${below}${entry.name}`;
      if (entry.isDirectory()) {
        directories.push(name);
        read(`${name}/`);
      } else {
        const content = readFileSync(join(directory, name));
        files.push([name, content.length]);
        contents.push(content);
      }
    }
  };
  read('');
  const all = Buffer.concat([Buffer.from(`${JSON.stringify({ directories, files })}\n`), ...contents]);
  // The log repeats what the files contain, megabytes later.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(all, { params });
}
