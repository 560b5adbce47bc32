// Measures what idle collections cost: `node bench/fleet/idle.mjs --collections 1,100,400,1000`. Works only on Linux.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createServices } from '@akin/testing';
import pg from 'pg';
import { startAkin } from '../lib/akin.mjs';
import { printTable } from '../lib/figures.mjs';
import { startProcess, untilReady } from '../lib/fleet.mjs';
import { cpuSeconds, printMachine } from '../lib/machine.mjs';
import { readOptions } from '../lib/options.mjs';

const options = readOptions({ collections: '1,100,400,1000', seconds: '60', rest: '60' });

printMachine();
const services = createServices({});
const databaseUrl = await services.postgres();
const client = new pg.Client({ connectionString: databaseUrl });
await client.connect();
const one = async (sql) => (await client.query(sql)).rows[0];
const postmaster = parentOf((await one('select pg_backend_pid() as pid')).pid);

const rows = [
  [
    'collections',
    'PostgreSQL, % of a core',
    'indexer, % of a core',
    'transactions/s',
    'WAL kB/s',
    'leases lost',
    'load',
  ],
];
let made = 1;
for (const count of options.collections.split(',').map(Number)) {
  await makeCollections(count);
  const indexer = await startProcess(['indexer', '--port', '0'], {
    DATABASE_URL: databaseUrl,
    REDIS_URL: await services.redis(),
    AKIN_LOG_LEVEL: 'warn',
  });
  await untilReady(indexer.url);
  for (let held = 0; held < count; await delay(500)) held = (await one('select count(*)::int as n from akin.leases')).n;
  // Work that each collection needs only once is not part of the idle load.
  await delay(Number(options.rest) * 1000);
  const before = await readCounters(indexer);
  await delay(Number(options.seconds) * 1000);
  const after = await readCounters(indexer);
  const rate = (name) => (after[name] - before[name]) / (after.at - before.at);
  rows.push([
    String(count),
    (100 * rate('postgres')).toFixed(1),
    (100 * rate('indexer')).toFixed(1),
    rate('transactions').toFixed(0),
    (rate('wal') / 1000).toFixed(1),
    String(after.epochs - before.epochs),
    loadavg()[0].toFixed(1),
  ]);
  console.log(rows.at(-1).join(' | '));
  await indexer.stop();
}
printTable('Idle collections', rows);
await client.end();
await services[Symbol.asyncDispose]();

/** Creates collections through `akin serve`, as users do. */
async function makeCollections(count) {
  const folder = await mkdtemp(join(tmpdir(), 'akin-bench-'));
  const akin = await startAkin(['--data', folder, '--database-url', databaseUrl]);
  for (; made < count; made++) {
    const response = await fetch(`${akin.url}/api/cores/idle-${made}`, { method: 'PUT' });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  }
  await akin.stop();
  await rm(folder, { recursive: true, force: true });
}

async function readCounters(indexer) {
  const { transactions, wal, epochs } = await one(
    `select (select sum(xact_commit)::float8 from pg_stat_database) as transactions,
            pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as wal,
            (select coalesce(sum(epoch), 0)::float8 from akin.leases) as epochs`,
  );
  const postgres = cpuSeconds(postmaster, true);
  return { at: performance.now() / 1000, postgres, indexer: indexer.cpuSeconds(), transactions, wal, epochs };
}

/** The parent of a process of this machine. */
function parentOf(pid) {
  return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]);
}
