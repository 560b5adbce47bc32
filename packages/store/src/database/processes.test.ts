import { connectionName } from '@akin/runtime';
import { testDatabase } from '@akin/testing';
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { openTestStore } from '../../test/support.ts';
import { listProcesses, saveAnalyzers } from './processes.ts';

it('lists a process once, also while parallel workers of PostgreSQL run its statement, and analyzers for a minute', async () => {
  const database = await testDatabase();
  const store = await openTestStore({ databaseUrl: database.url });
  const process = { role: 'gateway', version: '1.0.0', host: 'one', pid: 7 };
  const client = new pg.Client({ connectionString: database.url, application_name: connectionName(process) });
  await client.connect();
  await client.query('set debug_parallel_query = on');
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const statement = client.query('select pg_sleep(600)').catch(({ code }) => code);
  const workers = () => store.engine.query('select from pg_stat_activity where leader_pid = $1', [rows[0].pid]);
  while ((await workers()).length === 0);
  expect(await listProcesses(store)).toMatchObject([{ ...process, connections: 1 }]);
  await store.engine.query('select pg_cancel_backend($1)', [rows[0].pid]);
  expect(await statement).toBe('57014');
  await client.end();

  const analyzer = { role: 'analyzer', version: '1.0.0', host: 'two', pid: 8 };
  const seen = { name: connectionName(analyzer), address: '10.0.0.8', connectedAt: new Date('2026-01-02T03:04:05Z') };
  for (const address of ['10.0.0.7', '10.0.0.8']) await saveAnalyzers(store, [{ ...seen, address }]);
  const { name: _, ...listed } = seen;
  const analyzers = async () => (await listProcesses(store)).filter(({ role }) => role === 'analyzer');
  expect(await analyzers()).toEqual([{ ...analyzer, ...listed, connections: 1 }]);
  await store.engine.query(`update akin.analyzers set seen_at = now() - interval '61 seconds'`);
  expect(await analyzers()).toEqual([]);
  await store[Symbol.asyncDispose]();
  await database.drop();
});
