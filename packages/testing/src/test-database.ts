import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { askBroker } from './broker.ts';
import { type HeldTransaction, holdTransaction } from './statements.ts';

/** A separate database for a test file. */
export interface TestDatabase {
  readonly url: string;
  /** Runs a statement on a new connection. */
  run(sql: string): Promise<void>;
  /** Runs a statement in a transaction that stays open: its locks are kept until it is released. */
  hold(sql: string): Promise<HeldTransaction>;
  /** Closes remaining connections and drops the database. */
  drop(): Promise<void>;
}

/**
 * Creates an empty database on a real PostgreSQL; `create extension vector` works in it.
 *
 * @example
 * const database = await testDatabase();
 * afterAll(() => database.drop());
 */
export async function testDatabase(): Promise<TestDatabase> {
  const server = await askBroker('postgres');
  const name = `akin_test_${randomUUID().replaceAll('-', '')}`;
  await runOn(server, async (client) => {
    const { rowCount } = await client.query(`select from pg_available_extensions where name = 'vector'`);
    if (rowCount === 0) throw new Error(`the PostgreSQL of TEST_DATABASE_URL has no pgvector: install it there`);
    await client.query(`create database ${name} template template0`);
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    run: (sql) => runOn(url.href, (client) => client.query(sql)),
    hold: (sql) => holdTransaction(url.href, sql),
    drop: () => runOn(server, (client) => client.query(`drop database if exists ${name} with (force)`)),
  };
}

async function runOn(url: string, work: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
