import pg from 'pg';
import { FILTER_COLUMNS } from './collection.mjs';
import { rowAt } from './rows.mjs';

const HNSW = 'with (m = 16, ef_construction = 64)';
const BATCH = 1_000;

/**
 * A table of the same descriptors and filter columns in a database of its own, with a graph index on the descriptors
 * and nothing else that could answer: what pgvector does without akin. Made once.
 *
 * @param {string} databaseUrl of akin's database; this one has the same name with `_bare`
 */
export async function openBare(databaseUrl, facts) {
  const url = new URL(databaseUrl);
  const name = `${url.pathname.slice(1)}_bare`;
  await withClient(databaseUrl, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${name} template template0`);
  });
  url.pathname = `/${name}`;
  await withClient(url.href, (client) => fill(client, facts));
  return {
    /** A connection with settings of its own. */
    async connect(settings = {}) {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      // Only the graph: the planner would take a scan of everything for some filters.
      const all = { enable_seqscan: 'off', enable_sort: 'off', plan_cache_mode: 'force_custom_plan', ...settings };
      // The extension defines its settings when it is first used.
      await client.query(`select '[1]'::halfvec`);
      for (const [name, value] of Object.entries(all)) await client.query(`set ${name} = ${value}`);
      return client;
    },
  };
}

async function withClient(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function fill(client, { vectors, columns }) {
  await client.query('create extension if not exists vector');
  await client.query(
    `create table if not exists bare (n int primary key, vector halfvec(${vectors.width}) not null, ` +
      `${FILTER_COLUMNS.map((name) => `${name} int not null`).join(', ')})`,
  );
  const { rows } = await client.query('select count(*)::int as count from bare');
  if (rows[0].count !== vectors.count) {
    await client.query('truncate bare');
    await client.query('drop index if exists bare_hnsw');
    console.error('Filling the bare table (once) …');
    for (let from = 0; from < vectors.count; from += BATCH) await insert(client, { vectors, columns }, from);
  }
  console.error('Building the bare graph index (once) …');
  await client.query(`create index if not exists bare_hnsw on bare using hnsw (vector halfvec_l2_ops) ${HNSW}`);
  await client.query('vacuum analyze bare');
}

async function insert(client, { vectors, columns }, from) {
  const numbers = Array.from({ length: Math.min(BATCH, vectors.count - from) }, (_, i) => from + i);
  const width = FILTER_COLUMNS.length;
  await client.query(
    `insert into bare select * from unnest($1::int[], $2::halfvec[], ${FILTER_COLUMNS.map((_, at) => `$${at + 3}::int[]`).join(', ')})`,
    [
      numbers,
      numbers.map((number) => `[${rowAt(vectors, number).join(',')}]`),
      ...FILTER_COLUMNS.map((_, at) => numbers.map((number) => columns[number * width + at])),
    ],
  );
}
