import { jest } from '@jest/globals';
import pg from 'pg';

/** What no search asks: what a connection is asked, or given, at first, and how large PGlite's log is by now. */
const NOT_OF_SEARCHES = /^set statement_timeout|as timeline$|from pg_control_checkpoint/;

interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The statements that go to the database while something is done. */
export async function statementsOf(work: () => Promise<unknown>): Promise<Sent[]> {
  const { query } = pg.Client.prototype;
  const sent: Sent[] = [];
  const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
    const [sql, values = []] = args as unknown[] as [unknown, (readonly unknown[])?];
    if (typeof sql === 'string' && !NOT_OF_SEARCHES.test(sql)) sent.push({ sql, values });
    return Reflect.apply(query, this, args);
  });
  await work().finally(() => spy.mockRestore());
  return sent;
}
