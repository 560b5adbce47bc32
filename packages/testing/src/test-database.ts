import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { askBroker } from './broker.ts';
import { type HeldTransaction, holdTransaction } from './statements.ts';
import { onceInRun } from './template.ts';

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

/** What new databases hold at first. A run makes it once. */
export interface DatabaseTemplate {
  readonly name: string;
  /** Fills an empty database, and closes its connections. */
  fill(url: string): Promise<void>;
}

/**
 * Creates a database on a real PostgreSQL: empty, or a copy of a template. `create extension vector` works in it.
 *
 * @example
 * const database = await testDatabase();
 * afterAll(() => database.drop());
 */
export async function testDatabase(template?: DatabaseTemplate): Promise<TestDatabase> {
  const server = await askBroker('postgres');
  const name = newName();
  await create(server, name, template && (await templateDatabase(server, template)));
  const url = urlOf(server, name);
  return {
    url,
    run: (sql) => runOn(url, (client) => client.query(sql)),
    hold: (sql) => holdTransaction(url, sql),
    drop: () => drop(server, name),
  };
}

/** Drops the templates of a run, which a server of its own would keep. */
export async function dropTemplates(): Promise<void> {
  const folder = await askBroker('folder');
  for (const file of await readdir(folder)) {
    if (file.endsWith(SUFFIX)) await drop(await askBroker('postgres'), await readFile(join(folder, file), 'utf8'));
  }
}

/** Of the files with the names of templates. */
const SUFFIX = '.database';

async function templateDatabase(server: string, { name, fill }: DatabaseTemplate): Promise<string> {
  const file = await onceInRun(`${name}${SUFFIX}`, async (path) => {
    const database = newName();
    await create(server, database);
    await fill(urlOf(server, database));
    await writeFile(`${path}-new`, database);
    await rename(`${path}-new`, path);
  });
  return readFile(file, 'utf8');
}

function newName(): string {
  return `akin_test_${randomUUID().replaceAll('-', '')}`;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function create(server: string, name: string, template = 'template0'): Promise<void> {
  return runOn(server, async (client) => {
    const { rowCount } = await client.query(`select from pg_available_extensions where name = 'vector'`);
    if (rowCount === 0) throw new Error(`the PostgreSQL of TEST_DATABASE_URL has no pgvector: install it there`);
    await client.query(`create database ${name} template ${template}`);
  });
}

function drop(server: string, name: string): Promise<void> {
  return runOn(server, (client) => client.query(`drop database if exists ${name} with (force)`));
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
