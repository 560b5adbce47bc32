import pg from 'pg';

/** Runs a statement on a server other than that of a store. @returns its rows */
export async function runOn(url: string, sql: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
