import { Client } from 'pg';

/** The SQLSTATE of a conflict with recovery. */
const CONFLICT = '40001';

/** Runs a statement on a new connection. Repeats it when a standby cancels it because of replay. */
export async function runStatement<Row>(url: string, sql: string, values: readonly unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (;;) {
      try {
        return (await client.query(sql, [...values])).rows as Row[];
      } catch (error) {
        if ((error as { code?: string }).code !== CONFLICT) throw error;
      }
    }
  } finally {
    await client.end();
  }
}

/** A transaction that stays open. */
export interface HeldTransaction {
  /** Rolls it back; does nothing if the server has ended. */
  release(): Promise<void>;
}

/** Runs a statement in a transaction that keeps its locks until it is released, or the server ends. */
export async function holdTransaction(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<HeldTransaction> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('begin');
  await client.query(sql, [...values]);
  return { release: () => client.end().catch(() => undefined) };
}
