import pg from 'pg';

/** Runs a statement on another server than the one of a store. @returns its rows */
export async function runOn(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
