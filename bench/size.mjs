// Measures what documents take in PostgreSQL after `akin import` of documents with outputs and thumbnails: the bytes of
// each kind of table, of indexes and of the write-ahead log. Run `npm run size` in bench/. `--record yes`
// replaces the sizes that planning computes from.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { startAkin } from './lib/akin.mjs';
import { recordCosts } from './lib/costs.mjs';
import { documentsFile } from './lib/documents.mjs';
import { createDatabase } from './lib/engines.mjs';
import { printTable } from './lib/figures.mjs';
import { printMachine } from './lib/machine.mjs';
import { readOptions } from './lib/options.mjs';

const PROGRAM = fileURLToPath(new URL('bin/akin.mjs', import.meta.resolve('akin-search/package.json')));
const options = readOptions({ documents: '5000', pictures: '', record: '' });
const count = Number(options.documents);

printMachine();
const file = await documentsFile(count, options.pictures);
const database = await createDatabase('postgres');
const akin = await startAkin(database.args);
const db = await database.openBare();
const written = async () => Number((await db.query('select pg_current_wal_insert_lsn() - $1 as n', ['0/0']))[0].n);

const before = await written();
const child = spawn(process.execPath, [PROGRAM, 'import', file, '--url', akin.url, '--collection', 'filled'], {
  stdio: 'inherit',
});
const [code] = await once(child, 'exit');
if (code !== 0) throw new Error(`akin import ended with ${code}`);
const after = await written();
const [{ schema }] = await db.query("select sql_schema as schema from akin.collections where name = 'filled'");
const tables = await db.query(
  `select relname as name, pg_table_size(c.oid)::float8 as table, pg_indexes_size(c.oid)::float8 as indexes
     from pg_class c where relnamespace = $1::regnamespace and relkind = 'r' order by pg_total_relation_size(c.oid) desc`,
  [schema],
);
const [{ full }] = await db.query("select current_setting('full_page_writes') as full");
await db.close();
await akin.stop();
await database.close();

const each = (bytes) => String(Math.round(bytes / count));
const sum = (of) => tables.reduce((total, table) => total + table[of], 0);
printTable(
  `${count} documents with outputs and thumbnails, ${each((await stat(file)).size)} bytes of JSON each; bytes a document`,
  [
    ['', 'table', 'indexes'],
    ...tables
      .filter((table) => table.table + table.indexes > 20 * count)
      .map((table) => [table.name, each(table.table), each(table.indexes)]),
    ['all', each(sum('table')), each(sum('indexes'))],
    [`write-ahead log (full_page_writes=${full})`, each(after - before), ''],
  ],
);
if (options.record) {
  const bytesOf = (pick) => Math.round(pick / count);
  const descriptors = tables.filter(({ name }) => name.startsWith('descriptors_'));
  const figures = {
    tables: bytesOf(sum('table')),
    indexes: bytesOf(sum('indexes')),
    /** The bytes of the widest module, which each search reads. */
    descriptor: bytesOf(Math.max(...descriptors.map(({ table }) => table))),
    log: bytesOf(after - before),
  };
  await recordCosts('sizes', 'npm run size -- --record yes', figures);
}
