import pg from 'pg';
import { FILTER_COLUMNS } from './collection.mjs';
import { rowAt } from './rows.mjs';

const HNSW = 'with (m = 16, ef_construction = 64)';
const BATCH = 1_000;

/** This table is in akin's database, next to akin's own tables. */
const TABLE = 'bench.bare';

/**
 * Opens a table with the same descriptors and filter columns, and an HNSW index on the descriptors. It has no other
 * index that could answer a search: this is pgvector without akin. The table is filled only once.
 */
export async function openBare(databaseUrl, facts) {
  const filling = await connect(databaseUrl);
  try {
    await fill(filling, facts);
  } finally {
    await filling.end();
  }
  return {
    /** Opens a connection with its own settings. */
    async connect(settings = {}) {
      const client = await connect(databaseUrl);
      // Forces the planner to use the graph index, because for some filters it would scan the whole table.
      const all = { enable_seqscan: 'off', enable_sort: 'off', plan_cache_mode: 'force_custom_plan', ...settings };
      // The extension defines its settings when it is first used.
      await client.query(`select '[1]'::halfvec`);
      for (const [name, value] of Object.entries(all)) await client.query(`set ${name} = ${value}`);
      return client;
    },
  };
}

async function connect(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return client;
}

async function fill(client, { vectors, columns }) {
  await client.query('create extension if not exists vector');
  await client.query('create schema if not exists bench');
  await client.query(
    `create table if not exists ${TABLE} (n int primary key, vector halfvec(${vectors.width}) not null, ` +
      `${FILTER_COLUMNS.map((name) => `${name} int not null`).join(', ')})`,
  );
  const { rows } = await client.query(`select count(*)::int as count from ${TABLE}`);
  if (rows[0].count !== vectors.count) {
    await client.query(`truncate ${TABLE}`);
    await client.query('drop index if exists bench.bare_hnsw');
    console.error('Filling the bare table (once) …');
    for (let from = 0; from < vectors.count; from += BATCH) await insert(client, { vectors, columns }, from);
  }
  console.error('Building the bare graph index (once) …');
  await client.query(`create index if not exists bare_hnsw on ${TABLE} using hnsw (vector halfvec_l2_ops) ${HNSW}`);
  await client.query(`vacuum analyze ${TABLE}`);
}

async function insert(client, { vectors, columns }, from) {
  const numbers = Array.from({ length: Math.min(BATCH, vectors.count - from) }, (_, i) => from + i);
  const width = FILTER_COLUMNS.length;
  await client.query(
    `insert into ${TABLE} select * from unnest($1::int[], $2::halfvec[], ${FILTER_COLUMNS.map((_, at) => `$${at + 3}::int[]`).join(', ')})`,
    [
      numbers,
      numbers.map((number) => `[${rowAt(vectors, number).join(',')}]`),
      ...FILTER_COLUMNS.map((_, at) => numbers.map((number) => columns[number * width + at])),
    ],
  );
}
