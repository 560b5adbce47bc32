import type pg from 'pg';
import { sqlStateOf } from './sqlstate.ts';

/** Maximum number of named statements per connection: each plan takes about 100 kB of the server. */
const MAX_STATEMENTS = 50;
/** Number of uses before a statement gets a name. */
const MIN_USES = 3;
/** Longer statements are hardly repeated. */
const MAX_STATEMENT_LENGTH = 20_000;

/** The columns of a table changed, or the server does not know the name. */
const STALE: ReadonlySet<string | undefined> = new Set(['0A000', '26000']);

/**
 * Gives names to repeated statements, so that a connection parses and plans them once. Planning costs more than finding
 * a few rows by their keys: for a document by its id, 0.2 of 0.3 ms.
 */
export class PreparedStatements {
  /** Number of uses of each statement; the most recent one is last. */
  readonly #texts = new Map<string, { readonly name: string; times: number }>();
  #next = 0;

  /** Undefined if the statement must be sent without a name. */
  nameOf(sql: string): string | undefined {
    if (sql.length > MAX_STATEMENT_LENGTH) return undefined;
    const known = this.#texts.get(sql) ?? { name: `akin_${this.#next++}`, times: 0 };
    known.times++;
    this.#texts.delete(sql);
    this.#texts.set(sql, known);
    for (const [oldest] of this.#texts) {
      if (this.#texts.size <= MAX_STATEMENTS) break;
      this.#texts.delete(oldest);
    }
    return known.times < MIN_USES ? undefined : known.name;
  }
}

/** A client of pg, which remembers the names that the server has. */
interface Client extends pg.ClientBase {
  readonly connection: { readonly parsedStatements: Record<string, string> };
}

/** @param name for the server; not in a transaction @throws errors of pg */
export async function send<R extends pg.QueryResultRow>(
  client: pg.ClientBase,
  text: string,
  values?: unknown[],
  name?: string,
): Promise<{ readonly rows: R[] }> {
  if (name === undefined) return client.query<R>(text, values);
  const { parsedStatements } = (client as Client).connection;
  if (!Object.hasOwn(parsedStatements, name) && Object.keys(parsedStatements).length >= MAX_STATEMENTS)
    await forgetAll(client);
  try {
    return await client.query<R>({ name, text, ...(values && { values }) });
  } catch (error) {
    if (!STALE.has(sqlStateOf(error))) throw error;
    await forgetAll(client);
    return client.query<R>(text, values);
  }
}

async function forgetAll(client: pg.ClientBase): Promise<void> {
  await client.query('deallocate all');
  const { parsedStatements } = (client as Client).connection;
  for (const name of Object.keys(parsedStatements)) delete parsedStatements[name];
}
